import Crypto
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

/// URLs of thumbor and imagor in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct ThumborTests {
    private static let image = ImageFixture.file(.quarters(PixelSize(width: 64, height: 48)), as: .png)
    private static let mark = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [255, 0, 255]), as: .png)

    private static func serve(_ running: RunningService) {
        running.origin.serve("/a.png", .image(image, type: "image/png").with("Cache-Control", "max-age=500"))
        running.origin.serve("/mark.png", .image(mark, type: "image/png").with("Cache-Control", "max-age=500"))
    }

    private static func decoded(_ answer: RawHTTPClient.Response) throws -> DecodedImage {
        try ImageReading.decode(SharedBytes(answer.body))
    }

    @Test func `a URL is served, and a repeated one from the same entry`() async throws {
        try await withService(["--thumbor-path", "/img"]) { running in
            Self.serve(running)
            let url = running.origin.url("/a.png")
            let answer = try await running.send("GET", "/img/unsafe/20x20/left/\(url)")
            #expect(answer.status == 200 && answer.headerFields[.contentType] == "image/png")
            let image = try Self.decoded(answer)
            #expect(image.size == PixelSize(width: 20, height: 20))
            #expect(image.pixel(x: 0, y: 0) == [255, 0, 0])
            let again = try await running.send("GET", "/img/unsafe//20x20/left/filters:nosuch()/\(url)?x=1")
            #expect(again.headerFields[.cacheStatus] == "alula-result;hit")
            #expect(again.headerFields[.eTag] == answer.headerFields[.eTag])
            #expect(try await running.send("GET", "/unsafe/20x20/\(url)").status == 404)
        }
    }

    @Test func `trim, mirrors, marks, colors and a canvas work together`() async throws {
        try await withService(["--thumbor-path", "/"]) { running in
            Self.serve(running)
            let framed = SampleImage(PixelSize(width: 60, height: 50), bands: 3) { x, y in
                guard 10..<40 ~= x, 20..<40 ~= y else { return [255, 255, 255] }
                return x < 25 ? [10, 60, 220] : [200, 40, 20]
            }
            running.origin.serve("/b.png", .image(ImageFixture.file(framed, as: .png), type: "image/png"))
            let filters = "watermark(\(running.origin.url("/mark.png")),-0,0,0):invert():fill(ff8800)"
            let answer = try await running.send(
                "GET", "/unsafe/trim/fit-in/-40x40/filters:\(filters)/\(running.origin.url("/b.png"))")
            #expect(answer.status == 200)
            let image = try Self.decoded(answer)
            #expect(image.size == PixelSize(width: 40, height: 40))
            #expect(Array(image.pixel(x: 0, y: 0).prefix(3)) == [255, 136, 0])
            #expect(Array(image.pixel(x: 8, y: 20).prefix(3)) == [55, 215, 235])
            #expect(Array(image.pixel(x: 30, y: 28).prefix(3)) == [245, 195, 35])
            #expect(Array(image.pixel(x: 33, y: 12).prefix(3)) == [0, 255, 0])
        }
    }

    @Test func `signatures decide, and a dialect without a key is closed by signing keys`() async throws {
        let key = String(repeating: "ab", count: 32)
        try await withService(["--thumbor-path", "/", "--thumbor-key", "geheim"]) { running in
            Self.serve(running)
            let path = "20x20/\(running.origin.url("/a.png"))"
            let code = HMAC.authenticationCode(for: path.utf8, key: Array("geheim".utf8), hash: .sha1)
            let signature = Base64.encode(code).replacing("+", with: "-").replacing("/", with: "_")
            let signed = try await running.send("GET", "/\(signature)/\(path)")
            #expect(signed.status == 200)
            #expect(try await running.send("GET", "/\(signature)/2\(path)").status == 403)
            #expect(try await running.send("GET", "/unsafe/\(path)").status == 403)
        }
        try await withService(["--thumbor-path", "/", "--signing-keys", key]) { running in
            Self.serve(running)
            let closed = try await running.send("GET", "/unsafe/20x20/\(running.origin.url("/a.png"))")
            #expect(closed.status == 403)
        }
    }

    @Test func `facts are JSON, and disallowed sources are rejected`() async throws {
        try await withService(["--thumbor-path", "/"]) { running in
            Self.serve(running)
            let answer = try await running.send("GET", "/unsafe/meta/fit-in/20x20/\(running.origin.url("/a.png"))")
            #expect(answer.status == 200 && answer.headerFields[.contentType] == "application/json")
            #expect(answer.text.contains("\"target\": {\"width\": 20, \"height\": 15}"))
            #expect(try await running.send("GET", "/unsafe/10x10/http://10.0.0.1/a.png").status == 403)
            let filter = "filters:watermark(http://10.0.0.1/a.png,0,0,0)"
            let mark = try await running.send("GET", "/unsafe/10x10/\(filter)/\(running.origin.url("/a.png"))")
            #expect(mark.status == 403)
            #expect(try await running.send("GET", "/unsafe/10x10/file:///etc/passwd").status == 403)
        }
    }
}
