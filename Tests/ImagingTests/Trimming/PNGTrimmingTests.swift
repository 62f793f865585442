import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct PNGTrimmingTests {
    private func file(_ chunks: [(type: String, data: [UInt8])], orientation: Int = 1) -> [UInt8] {
        var writer = PNGWriter(width: 4, height: 2, colorType: .palette)
        writer.palette = [255, 0, 0, 0, 255, 0]
        writer.transparency = [0]
        writer.orientation = orientation
        writer.chunks = chunks
        return writer.file { x, _ in [x % 2] }
    }

    private let profile = (type: "iCCP", data: [UInt8](repeating: 1, count: 9))

    @Test func `texts, EXIF and private chunks are removed, and chunks for the pixels stay in order`() {
        let whole = file(
            [("tEXt", [65, 0, 66]), profile, ("zTXt", [1]), ("iTXt", []), ("gAMA", [0, 0, 1, 2]), ("prIv", [7])],
            orientation: 6)
        #expect(PNGTrimmer.trim(SharedBytes(whole)).array == file([profile, ("gAMA", [0, 0, 1, 2])]))
    }

    @Test func `a file with nothing to drop is not copied`() {
        let bytes = SharedBytes(file([profile, ("sRGB", [0]), ("pHYs", [UInt8](repeating: 1, count: 9))]))
        #expect(PNGTrimmer.trim(bytes) === bytes)
    }

    @Test func `a second profile, an enormous one and an oversized small chunk are removed`() {
        let enormous = (type: "iCCP", data: [UInt8](repeating: 1, count: 4 << 20 | 1))
        #expect(PNGTrimmer.trim(SharedBytes(file([profile, profile]))).array == file([profile]))
        #expect(PNGTrimmer.trim(SharedBytes(file([enormous]))).array == file([]))
        #expect(PNGTrimmer.trim(SharedBytes(file([("gAMA", [UInt8](repeating: 0, count: 33))]))).array == file([]))
    }

    @Test func `a chunk that a decoder must know stays, for the decoder to reject`() {
        let bytes = SharedBytes(file([("ABCD", [1])]))
        #expect(PNGTrimmer.trim(bytes) === bytes)
        #expect(throws: ImagingError.self) { try ImageReading.decode(bytes) }
    }

    @Test func `a truncation stays visible`() {
        let whole = file([("tEXt", [65, 0, 66])])
        // A file without its end chunk and the checksums before it still has all pixels.
        for count in 8..<whole.count - 20 {
            let cut = PNGTrimmer.trim(SharedBytes(whole.prefix(count)))
            #expect(throws: ImagingError.self, "\(count) bytes") { try ImageReading.decode(cut) }
        }
    }

    @Test func `a file full of texts is decoded, upright, as if there were none`() throws {
        let text = (type: "zTXt", data: [65, 0, 0] + Zlib.stored([UInt8](repeating: 65, count: 200)))
        let image = try ImageReading.decode(SharedBytes(file(Array(repeating: text, count: 1_000), orientation: 6)))
        #expect(image.size == PixelSize(width: 2, height: 4))
        #expect(image.pixel(x: 0, y: 0)[3] == 0)
        #expect(image.pixel(x: 0, y: 1) == [0, 255, 0, 255])
    }
}
