import Recipes
import TestSupport
import Testing

/// PNG chunks whose checksums are zero.
struct PNGFile {
    var width = 300
    var height = 200
    var depth = 8
    var colorType = 2
    var interlace = 0
    /// Chunks before the image data.
    var before: [[UInt8]] = []
    /// Chunks after the image data.
    var after: [[UInt8]] = []
    var hasData = true

    static func chunk(_ type: String, _ data: [UInt8] = []) -> [UInt8] {
        var file = FileBytes()
        file.append(big: data.count, 4)
        file.append(text: type)
        return file.bytes + data + [0, 0, 0, 0]
    }

    var bytes: [UInt8] {
        var header = FileBytes()
        header.append(big: width, 4)
        header.append(big: height, 4)
        header.append([UInt8(depth), UInt8(colorType), 0, 0, UInt8(interlace)])
        var chunks = [PNGFile.chunk("IHDR", header.bytes)] + before
        if hasData { chunks.append(PNGFile.chunk("IDAT", [1, 2, 3])) }
        chunks += after + [PNGFile.chunk("IEND")]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunks.flatMap { $0 }
    }
}

struct PNGHeaderTests {
    @Test(arguments: [
        (0, 1, 1, 1, false), (0, 16, 1, 16, false), (2, 8, 3, 8, false), (3, 1, 3, 8, false), (3, 8, 3, 8, false),
        (4, 8, 2, 8, true), (4, 16, 2, 16, true), (6, 8, 4, 8, true), (6, 16, 4, 16, true),
    ])
    func `color types`(type: Int, depth: Int, bands: Int, bitDepth: Int, hasAlpha: Bool) throws {
        let expected = ImageHeader(
            format: .png, storedSize: PixelSize(width: 300, height: 200), bands: bands, bitDepth: bitDepth,
            hasAlpha: hasAlpha)
        #expect(try inspect(PNGFile(depth: depth, colorType: type).bytes) == expected)
    }

    @Test(arguments: [(0, 2), (2, 4), (3, 4)])
    func `a transparent color is alpha`(type: Int, bands: Int) throws {
        let header = try inspect(PNGFile(colorType: type, before: [PNGFile.chunk("tRNS", [0, 0])]).bytes)
        #expect(header.hasAlpha)
        #expect(header.bands == bands)
    }

    @Test func `interlace, profile and orientation`() throws {
        let file = PNGFile(
            interlace: 1, before: [PNGFile.chunk("iCCP", [UInt8](repeating: 0, count: 500))],
            after: [PNGFile.chunk("eXIf", exif(orientation: 6))])
        let header = try inspect(file.bytes)
        #expect(header.isProgressive)
        #expect(header.profileByteCount == 500)
        #expect(header.orientation == 6)
    }

    @Test func `image data may be in pieces and end early`() throws {
        var bytes = PNGFile(before: [PNGFile.chunk("IDAT", [1])]).bytes
        #expect(try inspect(bytes).size.width == 300)
        bytes.removeLast(14)
        #expect(try inspect(bytes).size.width == 300)
    }

    @Test(arguments: [
        PNGFile(width: 0), PNGFile(height: 0), PNGFile(width: 1 << 31), PNGFile(depth: 3), PNGFile(depth: 4),
        PNGFile(colorType: 1), PNGFile(depth: 16, colorType: 3), PNGFile(interlace: 2), PNGFile(hasData: false),
    ])
    func `an undecodable file is rejected`(file: PNGFile) {
        #expect(isDamaged(file.bytes))
    }

    @Test func `a chunk before the image data that is longer than the file is damage`() {
        #expect(isDamaged(PNGFile(before: [[0x7F, 0xFF, 0xFF, 0xFF] + Array("tEXt".utf8)]).bytes))
    }

    @Test func `thirty thousand pixels square are detected in the header`() throws {
        let file = PNGFile(width: 30_000, height: 30_000, depth: 1, colorType: 0)
        #expect(try inspect(file.bytes).size.area == 900_000_000)
    }
}
