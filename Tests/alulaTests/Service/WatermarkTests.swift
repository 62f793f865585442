import Dialects
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailAPI

@testable import Composition
@testable import Settings

/// Watermarks and presets in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct WatermarkTests {
    private static let image = ImageFixture.file(.plain(PixelSize(width: 64, height: 48), [0, 0, 0]), as: .png)
    private static let mark = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [255, 0, 0]), as: .png)

    private static func serve(_ running: RunningService) {
        running.origin.serve(
            "/a",
            .image(image, type: "image/png").with("Cache-Control", "max-age=500")
                .with("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT"))
        running.origin.serve(
            "/mark",
            .image(mark, type: "image/png").with("Cache-Control", "max-age=100")
                .with("Last-Modified", "Thu, 02 Jan 2025 00:00:00 GMT"))
    }

    private static func pixel(_ answer: RawHTTPClient.Response, x: Int, y: Int) throws -> [UInt8] {
        try ImageReading.decode(SharedBytes(answer.body)).pixel(x: x, y: y)
    }

    @Test func `it is drawn over the result, with the shorter freshness and the newer date`() async throws {
        try await withService { running in
            Self.serve(running)
            let query = "format=png&watermark=\(running.origin.url("/mark"))"
            let answer = try await running.thumbnail("/a", query)
            #expect(answer.status == 200)
            #expect(try Self.pixel(answer, x: 60, y: 44) == [255, 0, 0])
            #expect(try Self.pixel(answer, x: 50, y: 44) == [0, 0, 0])
            #expect(answer.headerFields[.lastModified] == "Thu, 02 Jan 2025 00:00:00 GMT")
            #expect(answer.headerFields[.cacheControl]?.contains("max-age=100") == true)
            let again = try await running.thumbnail("/a", query)
            #expect(again.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(again.headerFields[.eTag] == answer.headerFields[.eTag])
            // Different spellings of the same request are the same entry.
            let spelled = try await running.thumbnail(
                "/a", query + "&watermarkPosition=bottom-right&watermarkOpacity=100&watermarkTile=0")
            #expect(spelled.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(running.origin.requests.count == 2)
        }
    }

    @Test func `a purge of either removes the result, and the watermark's scaled form with it`() async throws {
        try await withService { running in
            Self.serve(running)
            let mark = running.origin.url("/mark")
            let query = "format=png&watermark=\(mark)&watermarkScale=0.5"
            for purged in [mark, running.origin.url("/a")] {
                _ = try await running.thumbnail("/a", query)
                let before = running.origin.requests.count
                let answer = try await running.send("DELETE", "/cache?url=\(purged)", to: .admin)
                #expect(answer.status == 200)
                // Source, pixels and result; for the watermark also its scaled form. Records are not counted.
                #expect(answer.text.contains("\"entries\":\(purged == mark ? 4 : 3)"), "\(answer.text)")
                let again = try await running.thumbnail("/a", query)
                #expect(again.headerFields[.cacheStatus]?.hasPrefix("alula-result;fwd=uri-miss") == true)
                #expect(running.origin.requests.count == before + 1)
            }
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1:1/none", 502, "origin_unreachable"), ("http://10.0.0.1/a.png", 403, "source_not_allowed"),
        ("ftp://127.0.0.1/a.png", 403, "source_not_allowed"), ("file:///etc/passwd", 403, "source_not_allowed"),
        ("http://[::ffff:10.0.0.1]/", 403, "source_not_allowed"), ("http://user@127.0.0.1/", 400, "bad_url"),
        ("nowhere:a.png", 400, "bad_url"), ("logo", 400, "bad_parameter"), ("..%2Flogo", 400, "bad_parameter"),
    ])
    func `a failing or disallowed one has its own failure, which names the parameter`(
        watermark: String, status: Int, code: String
    ) async throws {
        try await withService { running in
            Self.serve(running)
            let answer = try await running.thumbnail("/a", "w=32&watermark=\(watermark)")
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.text.contains("\"code\":\"\(code)\""), "\(answer.text)")
            #expect(answer.text.contains("\"parameter\":\"watermark\""), "\(answer.text)")
        }
    }

    @Test func `a placeholder may replace a failing one`() async throws {
        try await withService { running in
            Self.serve(running)
            running.origin.serve(
                "/text", FakeResponse(fields: [("Content-Type", "text/plain")], body: Array("no".utf8)))
            for (path, code) in [("/none", "source_not_found"), ("/text", "not_an_image")] {
                let query = "w=4&h=4&format=png&placeholder=0000ff&watermark=\(running.origin.url(path))"
                let answer = try await running.thumbnail("/a", query)
                #expect(answer.status == 200 && answer.headerFields[.alulaError] == code)
                #expect(try Self.pixel(answer, x: 2, y: 2) == [0, 0, 255])
            }
            // The client causes this rejection, so it is reported.
            let rejected = try await running.thumbnail("/a", "w=4&placeholder=red&watermark=http://10.0.0.1/")
            #expect(rejected.status == 403)
        }
    }

    @Test func `its URL and presets are signed with the rest`() async throws {
        let key = [UInt8](repeating: 7, count: 32)
        let configure = { @Sendable (settings: inout Settings) in
            settings.api.signingKeys = [key]
            settings.api.vocabulary.presets = ["tiny": [("w", "16")]]
        }
        try await withService(configure: configure) { running in
            Self.serve(running)
            let target = running.target("/a", "preset=tiny&watermark=\(running.origin.url("/mark"))")
            let signed = URLSigner.sign(target: target, key: key)
            let answer = try await running.send("GET", signed)
            #expect(answer.status == 200)
            for other in [target, signed.replacing("/mark", with: "/b"), signed.replacing("tiny", with: "huge")] {
                let rejection = try await running.send("GET", other)
                #expect(rejection.status == 403)
            }
        }
    }

    @Test func `a named watermark and presets come from the settings`() async throws {
        let running = try RunningService { settings in
            settings.api.vocabulary.presets = [
                "card": [("w", "32"), ("format", "png"), ("watermark", "logo")], "default": [("q", "50")],
            ]
        }
        Self.serve(running)
        // The origin's port is known only now.
        var vocabulary = running.settings.api.vocabulary
        var logo = Vocabulary.Watermark(source: ExactText(running.origin.url("/mark")))
        logo.options.position = .topLeft
        vocabulary.watermarks = ["logo": logo]
        await running.service.shutDown(running.settings)
        let named = try RunningService { settings in
            settings.api.vocabulary = vocabulary
        }
        let url = "/thumbnail?url=\(running.origin.url("/a"))"
        let answer = try await named.send("GET", url + "&preset=card")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try Self.pixel(answer, x: 4, y: 4) == [255, 0, 0])
        #expect(try Self.pixel(answer, x: 20, y: 20) == [0, 0, 0])
        let spelled = try await named.send("GET", url + "&w=32&format=png&watermark=logo")
        #expect(spelled.headerFields[.cacheStatus] == "alula-result;hit")
        #expect(try await named.send("GET", url + "&preset=none").status == 400)
        running.origin.stop()
        await named.stop()
    }

    @Test func `renditions of prefetch jobs use presets and watermarks`() async throws {
        try await withService(configure: { $0.api.vocabulary.presets = ["card": [("w", "24"), ("format", "png")]] }) {
            running in
            Self.serve(running)
            let (url, mark) = (running.origin.url("/a"), running.origin.url("/mark"))
            let body = #"{"sources":[{"url":"\#(url)","renditions":["preset=card&watermark=\#(mark)"]}]}"#
            let client = try running.connect(to: .admin)
            defer { client.close() }
            client.send(
                "POST /prefetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(try await client.response().status == 202)
            let target = running.target("/a", "preset=card&watermark=\(mark)")
            while try await running.metric("alula_renders_total") < 1 { await Task.yield() }
            #expect(try await running.send("GET", target).headerFields[.cacheStatus] == "alula-result;hit")
            #expect(running.origin.requests.count == 2)
        }
    }

    @Test func `many concurrent requests fetch and decode the watermark once`() async throws {
        try await withService { running in
            Self.serve(running)
            let gate = Gate()
            running.origin.serve(
                "/mark", .image(Self.mark, type: "image/png").with("Cache-Control", "max-age=100").held(at: gate))
            let targets = (1...12).map { running.target("/a", "w=\(16 + $0)&watermark=\(running.origin.url("/mark"))") }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for target in targets { group.addTask { try await running.send("GET", target).status } }
                try #require(
                    await eventually {
                        running.service.downloader.fetches.contains { $0.receipts.count == targets.count }
                    })
                gate.open()
                for try await status in group { #expect(status == 200) }
            }
            #expect(running.origin.requests.count == 2)
            #expect(try await running.metric("alula_decodes_total") == 2)
            #expect(try await running.metric("alula_renders_total") == Double(targets.count))
        }
    }
}
