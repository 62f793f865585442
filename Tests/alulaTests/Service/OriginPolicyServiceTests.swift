import Coordination
import HTTPTypes
import TestSupport
import Testing

@testable import Composition

/// Expected formats and cache policies of named origins in the whole service, and their reload.
@Suite(.timeLimit(.minutes(1)))
struct OriginPolicyServiceTests {
    private let file = Locked("{}")

    private func withOrigin(
        _ members: String, _ body: (RunningService, (String) async throws -> Void) async throws -> Void
    ) async throws {
        func text(_ members: String) -> String { "{ origins: { shop: { url: 'ORIGIN/', \(members) } } }" }
        file.withLock { $0 = text(members) }
        let running = try RunningService(["--access-log", "off"], file: file)
        let image = FakeResponse.image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60")
        running.origin.serve("/a", image)
        func reload(_ members: String) async throws {
            file.withLock { $0 = text(members) }
            #expect(try await running.send("POST", "/reload", to: .admin).status == 200)
        }
        do {
            try await body(running, reload)
            await running.stop()
        } catch {
            await running.stop()
            throw error
        }
    }

    private func get(_ running: RunningService, _ path: String, _ query: String = "w=20") async throws -> Int {
        try await running.send("GET", "/thumbnail?url=shop:\(path)&\(query)").status
    }

    @Test func `a listed 404 with an image is the image, and a text is still missing`() async throws {
        try await withOrigin("expect: { statuses: [200, 404] }") { running, reload in
            running.origin.serve(
                "/gone",
                FakeResponse(status: 404, fields: [("Content-Type", "image/png")], body: ImageFixture.png.array))
            running.origin.serve("/text", FakeResponse.status(404))
            #expect(try await get(running, "a") == 200)
            #expect(try await get(running, "gone") == 200)
            #expect(try await get(running, "gone", "w=24") == 200)
            #expect(running.origin.hits("/gone") == 1, "it is kept like a source of status 200")
            #expect(try await get(running, "text") == 404)
            try await reload("maxRedirects: 5")
            #expect(try await get(running, "gone") == 404)
            #expect(running.origin.hits("/gone") == 2)
            try await reload("expect: { statuses: [404] }")
            #expect(try await get(running, "a") == 502)
        }
    }

    @Test func `other formats are rejected as everywhere, and a reload changes the list`() async throws {
        try await withOrigin("expect: { formats: ['jpeg'] }") { running, reload in
            let refused = try await running.send("GET", "/thumbnail?url=shop:a&w=20")
            #expect(refused.status == 415 && refused.text.contains("not_an_image"))
            try await reload("expect: { formats: ['jpeg', 'png'] }")
            #expect(try await get(running, "a") == 200)
            try await reload("expect: { formats: ['jpeg'] }")
            #expect(try await get(running, "a") == 415)
        }
    }

    @Test func `a reload changes the cache policy`() async throws {
        try await withOrigin("cache: 'none'") { running, reload in
            for hits in 1...2 {
                #expect(try await get(running, "a") == 200)
                #expect(running.origin.hits("/a") == hits)
            }
            try await reload("cache: 'results'")
            for query in ["w=20", "w=20", "w=24"] { #expect(try await get(running, "a", query) == 200) }
            #expect(running.origin.hits("/a") == 4)
            try await reload("cache: 'all'")
            for query in ["w=20", "w=24"] { #expect(try await get(running, "a", query) == 200) }
            #expect(running.origin.hits("/a") == 5)
            try await reload("cache: 'none'")
            #expect(try await get(running, "a") == 200)
            #expect(running.origin.hits("/a") == 6)
        }
    }
}
