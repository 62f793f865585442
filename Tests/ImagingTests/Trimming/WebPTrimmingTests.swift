import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct WebPTrimmingTests {
    private let picture = [WebPFile.canvas(300, 200, flags: 0x0C), WebPFile.lossy(300, 200)]
    private let comment = WebPFile.chunk("XMP ", [1, 2, 3])

    private func trim(_ chunks: [[UInt8]], frames: Int = 1) throws -> [UInt8] {
        try WebPTrimmer.trim(SharedBytes(WebPFile.file(chunks)), frames: frames).array
    }

    @Test func `common metadata is not worth a copy`() throws {
        let bytes = SharedBytes(WebPFile.file(picture + Array(repeating: comment, count: 64)))
        #expect(try WebPTrimmer.trim(bytes, frames: 1) === bytes)
    }

    @Test(arguments: ["XMP ", "EXIF", "abcd", "VP8X", "VP8 ", "ALPH", "ICCP"])
    func `masses of chunks are removed, one of each kind stays`(type: String) throws {
        let chunk = WebPFile.chunk(type, [1])
        let alpha = WebPFile.chunk("ALPH", [1, 2])
        let profile = WebPFile.chunk("ICCP", [1, 2])
        let whole = [picture[0], profile, alpha, picture[1]]
        #expect(try trim(whole + Array(repeating: chunk, count: 65)) == WebPFile.file(whole))
    }

    @Test func `enormous chunks are removed`() throws {
        let text = WebPFile.chunk("XMP ", [UInt8](repeating: 1, count: 256 << 10))
        let profile = WebPFile.chunk("ICCP", [UInt8](repeating: 1, count: 4 << 20 | 1))
        #expect(try trim(picture + [text]) == WebPFile.file(picture))
        #expect(try trim([picture[0], profile, picture[1]]) == WebPFile.file(picture))
    }

    @Test func `frames after the requested ones are removed`() throws {
        let start = [WebPFile.canvas(300, 200, flags: 2), WebPFile.chunk("ANIM", [0, 0, 0, 0, 0, 0])]
        let frames = (0..<100).map { WebPFile.chunk("ANMF", [UInt8($0)]) }
        #expect(try trim(start + frames, frames: 7) == WebPFile.file(start + frames.prefix(7)))
        #expect(try trim(start + frames, frames: 100) == WebPFile.file(start + frames))
    }

    @Test func `an animation truncated in its first frame is rejected`() {
        let frame = WebPFile.chunk("ANMF", [UInt8](repeating: 1, count: 40))
        let file = WebPFile.file([
            WebPFile.canvas(300, 200, flags: 2), WebPFile.chunk("ANIM", [0, 0, 0, 0, 0, 0]), frame,
        ])
        #expect(throws: ImagingError.self) { try WebPTrimmer.trim(SharedBytes(Array(file.dropLast(8))), frames: 1) }
    }

    @Test func `too many frames for the time limit are rejected`() throws {
        let bytes = SharedBytes(WebPFile.file(picture))
        #expect(try WebPTrimmer.trim(bytes, frames: 20_000) === bytes)
        #expect(throws: ImagingError.self) { try WebPTrimmer.trim(bytes, frames: 20_001) }
    }

    @Test func `a page in the middle of many is decoded as if it were one of few`() throws {
        try ImageLibrary.start()
        let bytes = SharedBytes(
            ImageFixture.animation(frames: 100, as: .webp, size: PixelSize(width: 8, height: 8)))
        let header = try ImageHeader.inspect(bytes)
        #expect(header.frames == 100)
        for (page, color) in [(0, [255, 0, 0]), (1, [0, 255, 0]), (29, [0, 0, 255]), (99, [255, 0, 0])] {
            let image = try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(page: page), limits: ImagingLimits(), token: WorkToken())
            #expect(image.isClose(x: 4, y: 4, to: color))
        }
    }
}
