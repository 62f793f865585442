import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import Text

@testable import Composition
@testable import Dialects
@testable import Settings

/// Nextcloud's own requests in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct NextcloudTests {
    private static let settings = ["--imaginary-path", "/", "--imaginary-key", "sesame", "--uploads", "on"]

    /// The response to a file that is sent without a type, as Nextcloud does.
    private func preview(
        _ running: RunningService, _ file: [UInt8], _ first: String, _ operation: String, _ side: Int, type: String
    ) async throws -> RawHTTPClient.Response {
        let json = """
            [{"operation":"\(first)"\(first == "convert" ? ",\"params\":{\"type\":\"\(type)\"}" : "")},\
            {"operation":"\(operation)","params":{"width":\(side),"height":\(side),"stripmeta":"true","type":"\(type)",\
            "norotation":"true","quality":"80"}}]
            """
        let client = try running.connect()
        defer { client.close() }
        client.send(
            "POST /pipeline?operations=\(URLEscape.encode(json))&key=sesame HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Length: \(file.count)\r\n\r\n")
        client.send(file)
        return try await client.response()
    }

    /// Files with red, green, blue and white quarters, upright.
    private static let files: [(name: String, file: [UInt8], first: String, type: String)] =
        [ImageFixture.jpeg, .jpegOrientation3, .jpegOrientation6, .jpegOrientation7, .webp].map {
            ($0.rawValue, $0.array, "autorotate", "jpeg")
        } + [ImageFixture.png, .pngOrientation6, .gif].map { ($0.rawValue, $0.array, "autorotate", "png") }
        + [UnwrittenImages.documents[0]].map { ($0.name, $0.file, "autorotate", "jpeg") }
        + [UnwrittenImages.drawings[0]].map { ($0.name, $0.file, "convert", "png") }

    /// Whether a pixel has a color, with or without alpha.
    private static func isClose(_ pixel: [UInt8], _ color: [Int]) -> Bool {
        zip(pixel, color).allSatisfy { abs(Int($0) - $1) <= 40 }
    }

    @Test func `each format is returned upright, at its size or smaller`() async throws {
        try await withService(Self.settings + ["--source-formats", "jpeg,png,webp,gif,tiff,svg"]) { running in
            for (name, file, first, type) in Self.files {
                let large = try await preview(running, file, first, "fit", 4_096, type: type)
                #expect(large.status == 200 && large.headerFields[.contentType] == "image/\(type)", "\(name)")
                #expect(large.headerFields[.imageWidth] == "64" && large.headerFields[.imageHeight] == "48", "\(name)")
                let small = try await preview(running, file, first, "fit", 32, type: type)
                #expect(small.headerFields[.imageWidth] == "32" && small.headerFields[.imageHeight] == "24", "\(name)")
                let image = try ImageReading.decode(SharedBytes(small.body))
                #expect(image.size == PixelSize(width: 32, height: 24), "\(name)")
                #expect(Self.isClose(image.pixel(x: 4, y: 4), [255, 0, 0]), "\(name)")
                #expect(Self.isClose(image.pixel(x: 27, y: 4), [0, 255, 0]), "\(name)")
                #expect(Self.isClose(image.pixel(x: 4, y: 19), [0, 0, 255]), "\(name)")
                let square = try await preview(running, file, first, "smartcrop", 24, type: type)
                let sides = [square.headerFields[.imageWidth], square.headerFields[.imageHeight]]
                #expect(sides == ["24", "24"], "\(name)")
            }
        }
    }

    @Test func `a wrong key, a text and a broken list are rejected`() async throws {
        try await withService(Self.settings) { running in
            let text = try await preview(running, Array("no image".utf8), "autorotate", "fit", 32, type: "jpeg")
            #expect(text.status == 406)
            let unknown = try await preview(running, ImageFixture.jpeg.array, "turn", "fit", 32, type: "jpeg")
            #expect(unknown.status == 400)
            let closed = try await running.send("GET", "/info?url=http://h/a&key=x")
            #expect(closed.status == 401)
        }
    }
}
