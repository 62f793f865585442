import Crypto
import Dialects
import Downloading
import HTTPServing
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

/// imgproxy's URLs in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct ImgproxyTests {
    private static let image = ImageFixture.file(.quarters(PixelSize(width: 64, height: 48)), as: .png)
    private static let mark = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [255, 0, 255]), as: .png)

    private static func serve(_ running: RunningService) {
        running.origin.serve("/a.png", .image(image, type: "image/png").with("Cache-Control", "max-age=500"))
    }

    private static func decoded(_ answer: RawHTTPClient.Response) throws -> DecodedImage {
        try ImageReading.decode(SharedBytes(answer.body))
    }

    @Test func `an imgproxy URL is served, and a repeated one from the same entry`() async throws {
        try await withService(["--imgproxy-path", "/img"]) { running in
            Self.serve(running)
            let target = "/img/_/rs:fill:20:20/g:nowe/plain/\(running.origin.url("/a.png"))"
            let answer = try await running.send("GET", target)
            #expect(answer.status == 200 && answer.headerFields[.contentType] == "image/png")
            let image = try Self.decoded(answer)
            #expect(image.size == PixelSize(width: 20, height: 20))
            #expect(image.pixel(x: 0, y: 0) == [255, 0, 0])
            #expect(answer.headerFields[.contentDisposition] == "inline; filename=\"a.png\"")
            let again = try await running.send("GET", target + "?x=1")
            #expect(again.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(again.headerFields[.eTag] == answer.headerFields[.eTag])
            #expect(try await running.send("GET", "/_/plain/\(running.origin.url("/a.png"))").status == 404)
        }
    }

    @Test func `trim, crop, canvas, padding and a format work together`() async throws {
        try await withService(["--imgproxy-path", "/"]) { running in
            let framed = SampleImage(PixelSize(width: 60, height: 50), bands: 3) { x, y in
                10..<40 ~= x && 20..<40 ~= y ? [10, 60, 220] : x == 5 && y == 5 ? [0, 0, 0] : [255, 255, 255]
            }
            running.origin.serve("/b.png", .image(ImageFixture.file(framed, as: .png), type: "image/png"))
            let answer = try await running.send(
                "GET", "/_/t:10/w:15/s:20:20/ex:1/pd:2/bg:ff8800/plain/\(running.origin.url("/b.png"))@png")
            let image = try Self.decoded(answer)
            #expect(image.size == PixelSize(width: 24, height: 24))
            #expect(image.pixel(x: 0, y: 0) == [255, 136, 0] && image.pixel(x: 12, y: 12) == [10, 60, 220])
        }
    }

    @Test func `a watermark's file gives no access to others in its folder`() async throws {
        let folder = TemporaryFolder()
        folder.write("other.png", Self.mark)
        folder.write("mark.png", Self.mark)
        let path = folder.path + "/mark.png"
        try await withService(
            [],
            configure: { settings in
                let faults = OtherServiceEnvironment.imgproxy.apply(["IMGPROXY_WATERMARK_PATH": path], to: &settings)
                #expect(faults.problems.isEmpty)
                settings.publicListener.port = 0
                settings.downloads.origins = Origins(settings.dialects.origins)
                settings.api.otherDialects = settings.dialects.dialects(settings.api.vocabulary)
            }
        ) { running in
            Self.serve(running)
            let answer = try await running.send("GET", "/_/wm:1:soea:2:2/plain/\(running.origin.url("/a.png"))")
            let image = try Self.decoded(answer)
            #expect(image.pixel(x: 60, y: 44) == [255, 0, 255] && image.pixel(x: 63, y: 47) == [255, 255, 255])
            let hidden = try await running.send("GET", "/_/plain/imgproxy-watermark:other.png")
            #expect((400..<500).contains(hidden.status))
        }
    }

    @Test func `a watermark in memory is drawn like any other`() async throws {
        try await withService(
            [],
            configure: { settings in
                let data = Base64.encode(Self.mark)
                _ = OtherServiceEnvironment.imgproxy.apply(["IMGPROXY_WATERMARK_DATA": data], to: &settings)
                settings.publicListener.port = 0
                settings.downloads.origins = Origins(settings.dialects.origins)
                settings.api.otherDialects = settings.dialects.dialects(settings.api.vocabulary)
            }
        ) { running in
            Self.serve(running)
            let answer = try await running.send("GET", "/_/wm:1:nowe/plain/\(running.origin.url("/a.png"))")
            let image = try Self.decoded(answer)
            #expect(image.pixel(x: 7, y: 7) == [255, 0, 255] && image.pixel(x: 8, y: 8) == [255, 0, 0])
        }
    }

    @Test func `an unreadable option is a problem that names it`() async throws {
        try await withService(["--imgproxy-path", "/"]) { running in
            Self.serve(running)
            let source = "plain/\(running.origin.url("/a.png"))"
            for (options, code) in [
                ("w:x", "bad_parameter"), ("br:10", "unsupported_option"), ("foo:1", "bad_parameter"),
            ] {
                let answer = try await running.send("GET", "/_/\(options)/\(source)")
                #expect(answer.status == 400 && answer.text.contains("\"code\":\"\(code)\""), "\(answer.text)")
                #expect(answer.text.contains("\"parameter\":\"\(options.prefix { $0 != ":" })\""))
            }
            #expect(try await running.send("GET", "/w:1/\(source)").status == 403)
        }
    }

    @Test func `a target may limit the size of its file, fetched or cached`() async throws {
        try await withService(
            ["--imgproxy-path", "/"],
            configure: { settings in
                settings.dialects.imgproxy.allowsSecurityOptions = true
                settings.api.otherDialects = settings.dialects.dialects(settings.api.vocabulary)
            }
        ) { running in
            Self.serve(running)
            let source = "plain/\(running.origin.url("/a.png"))"
            let most = Self.image.count
            for (bytes, status) in [(most - 1, 413), (most, 200), (most - 1, 413)] {
                let answer = try await running.send("GET", "/_/msfs:\(bytes)/\(source)")
                #expect(answer.status == status, "\(answer.text)")
            }
        }
    }

    @Test func `with keys only signed targets are served`() async throws {
        let keys = [
            "--imgproxy-path", "/", "--imgproxy-keys", "746573742d6b6579", "--imgproxy-salts", "746573742d73616c74",
        ]
        try await withService(keys) { running in
            Self.serve(running)
            #expect(try await running.send("GET", "/_/plain/\(running.origin.url("/a.png"))").status == 403)
            // imgproxy's test vector: the path is not a source, but its signature is valid.
            let signed = try await running.send("GET", "/oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20/asd")
            #expect(signed.status == 400)
        }
    }
}
