import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// RAW photographs in the whole service.
@Suite(.timeLimit(.minutes(2)))
struct RAWTests {
    private static let preview = ImageFixture.file(.quarters(PixelSize(width: 640, height: 480)), as: .jpeg)
    private static let small = ImageFixture.file(.quarters(PixelSize(width: 160, height: 120)), as: .jpeg)

    @Test(arguments: RAWWriter.Kind.allCases)
    func `a photograph has a thumbnail of its preview, and facts of both`(kind: RAWWriter.Kind) async throws {
        try await withService(["--source-formats", "jpeg,png,raw"]) { running in
            var writer = RAWWriter(kind, Self.preview)
            writer.orientation = 6
            let isTurned = kind != .raf
            running.origin.serve("/a", .image(writer.file))
            let answer = try await running.thumbnail(
                "/a", "w=96", fields: "Accept: image/*, image/webp;q=0.1, image/jpeg\r\n")
            #expect(answer.status == 200 && answer.headerFields[.contentType] == "image/jpeg")
            let image = try ImageReading.decode(SharedBytes(answer.body))
            #expect(image.size == PixelSize(width: 96, height: isTurned ? 128 : 72))
            #expect(image.isClose(x: 9, y: 9, to: isTurned ? [0, 0, 255] : [255, 0, 0], tolerance: 30))
            let facts = try await running.send("GET", "/info?url=\(running.origin.url("/a"))")
            let size =
                isTurned
                ? "\"width\":480,\"height\":640,\"orientation\":6" : "\"width\":640,\"height\":480,\"orientation\":1"
            for member in [
                "\"format\":\"raw\"", size, "\"bytes\":\(writer.file.count)", "\"rawWidth\":6000,\"rawHeight\":4000",
            ] {
                #expect(facts.text.contains(member), "\(facts.text)")
            }

            running.origin.serve("/small", .image(RAWWriter(kind, Self.small).file))
            let refused = try await running.thumbnail("/small")
            #expect(refused.status == 422 && refused.text.contains("cannot_decode"))
        }
    }

    @Test func `photographs are rejected where their format is`() async throws {
        try await withService { running in
            running.origin.serve("/a", .image(RAWWriter(.nef, Self.preview).file))
            let refused = try await running.thumbnail("/a")
            #expect(refused.status == 415 && refused.text.contains("raw"))
        }
    }
}
