import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import Composition
@testable import Settings

@Suite(.timeLimit(.minutes(1)))
struct AnswerTests {
    @Test func `a client's fields do not reach origins, change responses or name metrics`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=600"))
            let first = try await running.thumbnail(
                "/a.jpg", fields: "Cookie: marker=1\r\nAuthorization: Basic marker\r\n")
            let second = try await running.thumbnail(
                "/a.jpg", fields: "X-Forwarded-For: marker\r\nUser-Agent: marker\r\nAccept-Language: marker\r\n")
            #expect(first.status == 200 && second.body == first.body)
            #expect(second.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(running.origin.hits == 1)
            #expect(!String(describing: running.origin.requests).contains("marker"))
            _ = try await running.send("MARKER", "/marker")
            _ = try await running.send("GET", "/thumbnail?url=http%3A%2F%2Fmarker.invalid%2Fmarker&w=1")
            let metrics = try await running.send("GET", "/metrics", to: .admin).text
            #expect(metrics.contains("alula_requests_total{route=\"none\""))
            #expect(!metrics.lowercased().contains("marker"))
        }
    }

    @Test(arguments: [
        ("/missing.jpg", "w=32", 404, "source_not_found"), ("/gone.jpg", "w=32", 404, "source_not_found"),
        ("/forbidden.png", "w=32", 502, "origin_error"), ("/broken.png", "w=32", 502, "origin_error"),
        ("/page.html", "w=32", 415, "not_an_image"), ("/lie.png", "w=32", 415, "not_an_image"),
        ("/empty.png", "w=32", 415, "not_an_image"), ("/none.png", "w=32", 415, "not_an_image"),
        ("/truncated.jpg", "w=32", 422, "cannot_decode"), ("/giant.png", "w=32", 422, "too_many_pixels"),
        ("/a.jpg", "page=1", 422, "no_such_page"), ("/a.jpg", "w=16384&enlarge=1&format=webp", 422, "too_many_pixels"),
        ("/a.jpg", "w=0", 400, "bad_parameter"), ("/a.jpg", "width=1&w=1", 400, "bad_parameter"),
        ("/a.jpg", "nope=1", 400, "unknown_parameter"), ("/closed.jpg", "w=32", 502, "origin_unreachable"),
        ("/loop.jpg", "w=32", 502, "too_many_redirects"), ("/away.jpg", "w=32", 403, "source_not_allowed"),
        ("/nowhere.jpg", "w=32", 502, "origin_protocol_error"), ("/partial.jpg", "w=32", 502, "origin_protocol_error"),
        ("/cut.jpg", "w=32", 502, "origin_protocol_error"),
    ])
    func `a fault has its status and code, and is never a cached success`(
        path: String, query: String, status: Int, code: String
    ) async throws {
        try await withService { running in
            let origin = running.origin
            origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            origin.serve("/gone.jpg", .status(410))
            let image = FakeResponse.image(ImageFixture.png.array, type: "image/png")
            origin.serve("/forbidden.png", FakeResponse(status: 403, fields: image.fields, body: image.body))
            origin.serve("/broken.png", FakeResponse(status: 500, fields: image.fields, body: image.body))
            origin.serve("/page.html", .image(Array("<html>".utf8), type: "text/html"))
            origin.serve("/lie.png", .image(Array("<html>".utf8), type: "image/png"))
            origin.serve("/empty.png", .image([], type: "image/png"))
            origin.serve("/none.png", .status(204))
            origin.serve("/truncated.jpg", .image(ImageFixture.jpegTruncated.array))
            origin.serve("/giant.png", .image(ImageFixture.pngGiant.array, type: "image/png"))
            origin.serve("/closed.jpg", .closing)
            origin.serve("/loop.jpg", .redirect(to: origin.url("/loop.jpg")))
            origin.serve("/away.jpg", .redirect(to: "http://10.0.0.1/a.jpg"))
            origin.serve("/nowhere.jpg", .status(302))
            origin.serve("/partial.jpg", FakeResponse(status: 206, fields: image.fields, body: image.body))
            origin.serve("/cut.jpg", .image(ImageFixture.jpeg.array).cut(afterBytes: 100))
            for _ in 0..<2 {
                let answer = try await running.thumbnail(path, query)
                #expect(answer.status == status)
                #expect(answer.text.contains("\"code\":\"\(code)\""), "\(answer.text)")
                #expect(answer.headerFields[.contentType] == "application/problem+json")
                #expect(answer.headerFields[.cacheControl] == "no-store")
                #expect(!answer.text.contains("127.0.0.1") && !answer.text.contains("10.0.0.1"))
            }
            #expect(try await running.send("GET", "/health/live").status == 200)
        }
    }

    @Test(arguments: [200, 201, 202, 203, 226])
    func `these statuses carry an image`(status: Int) async throws {
        try await withService { running in
            let image = FakeResponse.image(ImageFixture.png.array, type: "IMAGE/PNG; charset=x")
            running.origin.serve("/a.png", FakeResponse(status: status, fields: image.fields, body: image.body))
            let answer = try await running.thumbnail("/a.png")
            #expect(answer.status == 200 && answer.headerFields[.contentType] == "image/png")
        }
    }

    @Test func `a thumbnail has every documented field`() async throws {
        try await withService { running in
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            running.origin.serve(
                "/my photo.jpg".replacing(" ", with: "%20"),
                .image(ImageFixture.jpeg.array).with("Last-Modified", date).with("Cache-Control", "max-age=600"))
            let answer = try await running.thumbnail("/my%20photo.jpg")
            let fields = answer.headerFields
            #expect(answer.status == 200)
            #expect(fields[.contentType] == "image/jpeg" && fields[.contentLength] == "\(answer.body.count)")
            #expect(fields[.eTag]?.hasPrefix("\"") == true && fields[.lastModified] == date)
            #expect(fields[.cacheControl]?.contains("max-age=600") == true && fields[.vary] == "Accept")
            #expect(fields[.xContentTypeOptions] == "nosniff")
            #expect(fields[.contentSecurityPolicy] == "default-src 'none'; sandbox")
            #expect(fields[.crossOriginResourcePolicy] == "cross-origin")
            #expect(fields[.contentDisposition]?.hasPrefix("inline; filename=") == true)
            #expect(fields[.serverTiming]?.contains("decode;dur=") == true)
            #expect(fields[.alulaReceipt] != nil)
            #expect(
                fields[.cacheStatus]
                    == "alula-result;fwd=uri-miss;stored, alula-decoded;fwd=uri-miss;stored, alula-source;fwd=uri-miss;stored"
            )
        }
    }

    @Test func `every response has its timings, and a miss those of the transfer`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let miss = try await running.thumbnail("/a.jpg").headerFields[.serverTiming] ?? ""
            for step in ["dns", "connect", "ttfb", "transfer", "decode", "render", "total"] {
                #expect(miss.contains("\(step);dur="), "\(miss)")
            }
            let hit = try await running.thumbnail("/a.jpg").headerFields[.serverTiming] ?? ""
            #expect(hit.contains("total;dur="))
            #expect(
                try await running.thumbnail("/none.jpg").headerFields[.serverTiming]?.contains("total;dur=") == true)
        }
    }

    @Test func `conditional requests are answered 304 without a body`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let tag = try #require(try await running.thumbnail("/a.jpg").headerFields[.eTag])
            let answer = try await running.thumbnail("/a.jpg", fields: "If-None-Match: \(tag)\r\n")
            #expect(answer.status == 304 && answer.body.isEmpty && answer.headerFields[.eTag] == tag)
            #expect(try await running.thumbnail("/a.jpg", fields: "If-None-Match: \"x\"\r\n").status == 200)
        }
    }

    @Test func `HEAD does the work of GET and sends no body`() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let head = try await running.send("HEAD", running.target("/a.jpg"))
            let get = try await running.thumbnail("/a.jpg")
            #expect(head.status == 200 && head.headerFields[.contentLength] == "\(get.body.count)")
            #expect(head.headerFields[.eTag] == get.headerFields[.eTag])
            #expect(get.headerFields[.cacheStatus] == "alula-result;hit")
        }
    }

    @Test func `purging a source leaves other sources`() async throws {
        try await withService { running in
            for path in ["/img", "/img2"] { running.origin.serve(path, .image(ImageFixture.jpeg.array)) }
            for path in ["/img", "/img2", "/img?x=1"] {
                for width in [16, 32] { #expect(try await running.thumbnail(path, "w=\(width)").status == 200) }
            }
            let target = "/cache?url=\(running.origin.url("/img"))"
            let removed = try await running.send("DELETE", target, to: .admin)
            #expect(removed.status == 200 && removed.text.hasPrefix("{\"entries\":"))
            for path in ["/img", "/img2", "/img?x=1"] { _ = try await running.thumbnail(path, "w=16") }
            let targets = running.origin.requests.map(\.target).sorted()
            #expect(targets == ["/img", "/img", "/img2", "/img?x=1"])
        }
    }

    @Test func `private and no-store sources are served with that directive and not stored`() async throws {
        try await withService { running in
            for directive in ["private", "no-store"] {
                running.origin.serve("/\(directive)", .image(ImageFixture.jpeg.array).with("Cache-Control", directive))
                for hits in 1...2 {
                    let answer = try await running.thumbnail("/\(directive)")
                    #expect(answer.status == 200)
                    #expect(answer.headerFields[.cacheControl]?.contains(directive) == true)
                    #expect(running.origin.hits("/\(directive)") == hits)
                }
            }
            #expect(try await running.metric("alula_cache_entries") == 0)
        }
    }

    @Test func `a placeholder replaces a failing source`() async throws {
        try await withService { running in
            let answer = try await running.thumbnail("/none.jpg", "w=20&h=10&placeholder=ff0000")
            #expect(answer.status == 200 && answer.headerFields[.cacheControl] == "no-store")
            #expect(answer.headerFields[.alulaError] == "source_not_found")
            let header = try ImageHeader.inspect(SharedBytes(answer.body))
            #expect(header.size == PixelSize(width: 20, height: 10) && header.format == .png)
        }
    }

    @Test func `AVIF sources are rejected unless the settings allow them`() async throws {
        try await withService { running in
            running.origin.serve("/a.avif", .image(ImageFixture.avif.array, type: "image/avif"))
            let rejected = try await running.thumbnail("/a.avif")
            #expect(rejected.status == 415 && rejected.text.contains("\"code\":\"not_an_image\""))
        }
        // Runs in a separate process, because an enabled loader stays enabled.
        await #expect(processExitsWith: .success) {
            try await withService(["--source-formats", "jpeg,avif"]) { running in
                running.origin.serve("/a.avif", .image(ImageFixture.avif.array, type: "image/avif"))
                let answer = try await running.thumbnail("/a.avif", "w=32&format=png")
                let header = try ImageHeader.inspect(SharedBytes(answer.body))
                precondition(answer.status == 200 && header.size == PixelSize(width: 32, height: 24))
            }
        }
    }
}
