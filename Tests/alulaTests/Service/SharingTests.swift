import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import Composition
@testable import Settings

@Suite(.timeLimit(.minutes(1)))
struct SharingTests {
    @Test func `two simultaneous requests make one transfer and equal responses, the second marked collapsed`()
        async throws
    {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
            async let first = running.thumbnail("/a.jpg")
            await gate.arrivals(1)
            async let second = running.thumbnail("/a.jpg")
            #expect(await eventually { running.service.downloader.fetches.first?.receipts.count == 2 })
            gate.open()
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers[0].body == answers[1].body)
            #expect(answers[1].headerFields[.cacheStatus]?.contains("alula-source;fwd=uri-miss;collapsed") == true)
            #expect(answers[0].headerFields[.cacheStatus]?.contains("alula-source;fwd=uri-miss;stored") == true)
            #expect(running.origin.hits("/a.jpg") == 1)
        }
    }

    @Test func `two hundred simultaneous requests make one transfer, one decode and one render`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
            let answers = try await withThrowingTaskGroup(of: RawHTTPClient.Response.self) { group in
                for _ in 0..<200 { group.addTask { try await running.thumbnail("/a.jpg") } }
                #expect(
                    await eventually {
                        running.service.downloader.fetches.first?.receipts.count == 200
                    })
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 200 && $0.body == answers[0].body })
            #expect(running.origin.hits("/a.jpg") == 1)
            #expect(try await running.metric("alula_decodes_total") == 1)
            #expect(try await running.metric("alula_renders_total") == 1)
            #expect(try await running.metric("alula_downloads_collapsed_total") == 199)
        }
    }

    @Test func `two concurrent sizes make one transfer, and each request gets its own size`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.photo(width: 400, height: 300).array).held(at: gate))
            async let small = running.thumbnail("/a.jpg", "w=40")
            async let large = running.thumbnail("/a.jpg", "w=41&format=png")
            #expect(await eventually { running.service.downloader.fetches.first?.receipts.count == 2 })
            gate.open()
            let sizes = try await [small, large].map { try ImageHeader.inspect(SharedBytes($0.body)).size }
            #expect(sizes == [PixelSize(width: 40, height: 30), PixelSize(width: 41, height: 31)])
            #expect(running.origin.hits("/a.jpg") == 1)
            #expect(try await running.metric("alula_decodes_total") == 1)
        }
    }

    @Test func `bytes and entity tag are the same in any cache state`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.photo(width: 640, height: 480).array))
            let cold = try await running.thumbnail("/a.jpg", "w=50")
            let hot = try await running.thumbnail("/a.jpg", "h=10000&w=50")
            _ = try await running.thumbnail("/a.jpg", "w=52")
            _ = try await running.send("DELETE", "/cache", to: .admin)
            _ = try await running.thumbnail("/a.jpg", "w=300")
            let again = try await running.thumbnail("/a.jpg", "q=80&w=50&fit=inside")
            #expect(hot.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(cold.body == hot.body && cold.body == again.body)
            #expect(cold.headerFields[.eTag] == again.headerFields[.eTag])
            #expect(running.origin.hits("/a.jpg") == 2)
        }
    }

    @Test func `canceling a receipt ends only that caller's request`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
            async let first = running.thumbnail("/a.jpg")
            await gate.arrivals(1)
            async let second = running.thumbnail("/a.jpg")
            #expect(await eventually { running.service.downloader.fetches.first?.receipts.count == 2 })
            let receipt = try #require(running.service.downloader.fetches.first?.receipts.last)
            let listed = try await running.send("GET", "/downloads", to: .admin).text
            #expect(listed.contains(receipt) && listed.contains("\"state\":\"running\""))
            #expect(try await running.send("DELETE", "/downloads/\(receipt)", to: .admin).status == 204)
            #expect(try await running.send("DELETE", "/downloads/\(receipt)", to: .admin).status == 404)
            let cancelled = try await second
            #expect(cancelled.status == 409 && cancelled.text.contains("\"code\":\"cancelled\""))
            gate.open()
            #expect(try await first.status == 200)
            #expect(running.origin.hits("/a.jpg") == 1)
        }
    }

    @Test func `the last client's disconnect closes the connection to the origin and caches nothing`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
            let client = try running.connect()
            client.send("GET \(running.target("/a.jpg")) HTTP/1.1\r\nHost: alula\r\n\r\n")
            await gate.arrivals(1)
            client.close()
            #expect(await eventually { running.service.downloader.activeRequestCount == 0 })
            gate.open()
            await running.origin.abandonment(of: "/a.jpg")
            #expect(try await running.metric("alula_cache_entries") == 0)
        }
    }

    @Test func `a half close counts as a disconnect too`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
            let client = try running.connect()
            client.send("GET \(running.target("/a.jpg")) HTTP/1.1\r\nHost: alula\r\n\r\n")
            await gate.arrivals(1)
            client.finishSending()
            #expect(await eventually { running.service.downloader.activeRequestCount == 0 })
            gate.open()
        }
    }

    @Test func `after a redirect the image is cached under the requested URL`() async throws {
        try await withService { running in
            running.origin.serve("/moved.jpg", .redirect(to: running.origin.url("/b.jpg")))
            running.origin.serve("/b.jpg", .image(ImageFixture.jpeg.array))
            #expect(try await running.thumbnail("/moved.jpg").status == 200)
            let again = try await running.thumbnail("/moved.jpg", "w=33")
            #expect(again.status == 200)
            #expect(running.origin.hits("/moved.jpg") == 1 && running.origin.hits("/b.jpg") == 1)
        }
    }

    @Test func `image work does not reduce the number of parallel downloads`() async throws {
        try await withService(["--render-workers", "1", "--max-active-downloads-per-host", "6"]) { running in
            let gate = Gate()
            let heavy = ImageFixture.photo(width: 400, height: 300, format: .png).array
            for index in 0..<4 { running.origin.serve("/heavy\(index).png", .image(heavy, type: "image/png")) }
            for index in 0..<6 { running.origin.serve("/\(index).jpg", .image(ImageFixture.jpeg.array).held(at: gate)) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<4 {
                    group.addTask { try await running.thumbnail("/heavy\(index).png", "w=300").status }
                }
                for index in 0..<6 { group.addTask { try await running.thumbnail("/\(index).jpg").status } }
                await gate.arrivals(6)
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
        }
    }
}
