import Recipes
import TestSupport
import Testing

enum WebPFile {
    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        var file = FileBytes(text: type)
        file.append(little: data.count, 4)
        return file.bytes + data + (data.count % 2 == 1 ? [0] : [])
    }

    static func file(_ chunks: [[UInt8]]) -> [UInt8] {
        let content = Array("WEBP".utf8) + chunks.flatMap { $0 }
        return chunk("RIFF", content)
    }

    static func lossy(_ width: Int, _ height: Int) -> [UInt8] {
        var file = FileBytes([0x10, 0, 0, 0x9D, 0x01, 0x2A])
        file.append(little: width, 2)
        file.append(little: height, 2)
        return chunk("VP8 ", file.bytes + [1, 2, 3])
    }

    static func lossless(_ width: Int, _ height: Int, hasAlpha: Bool) -> [UInt8] {
        var file = FileBytes([0x2F])
        file.append(little: (width - 1) | (height - 1) << 14 | (hasAlpha ? 1 << 28 : 0), 4)
        return chunk("VP8L", file.bytes + [1, 2])
    }

    static func canvas(_ width: Int, _ height: Int, flags: Int) -> [UInt8] {
        var file = FileBytes([UInt8(flags), 0, 0, 0])
        file.append(little: width - 1, 3)
        file.append(little: height - 1, 3)
        return chunk("VP8X", file.bytes)
    }
}

struct WebPHeaderTests {
    private let size = PixelSize(width: 300, height: 200)

    @Test func `a lossy image`() throws {
        #expect(try inspect(WebPFile.file([WebPFile.lossy(300, 200)])) == ImageHeader(format: .webp, storedSize: size))
    }

    @Test(arguments: [true, false])
    func `a lossless image`(hasAlpha: Bool) throws {
        let expected = ImageHeader(format: .webp, storedSize: size, bands: hasAlpha ? 4 : 3, hasAlpha: hasAlpha)
        #expect(try inspect(WebPFile.file([WebPFile.lossless(300, 200, hasAlpha: hasAlpha)])) == expected)
    }

    @Test func `the largest sides`() throws {
        let largest = PixelSize(width: 16_383, height: 16_383)
        #expect(try inspect(WebPFile.file([WebPFile.lossy(16_383, 16_383)])).size == largest)
        let picture = WebPFile.lossless(16_384, 16_384, hasAlpha: false)
        #expect(try inspect(WebPFile.file([picture])).size == PixelSize(width: 16_384, height: 16_384))
    }

    @Test func `alpha, profile and orientation of the extended layout`() throws {
        let file = WebPFile.file([
            WebPFile.canvas(300, 200, flags: 0x38), WebPFile.chunk("ICCP", [UInt8](repeating: 0, count: 333)),
            WebPFile.chunk("ALPH", [0]), WebPFile.lossy(300, 200), WebPFile.chunk("EXIF", exif(orientation: 8)),
        ])
        let expected = ImageHeader(
            format: .webp, storedSize: size, orientation: 8, bands: 4, hasAlpha: true, profileByteCount: 333,
            exif: EXIFTexts(make: Array("AAA".utf8)))
        #expect(try inspect(file) == expected)
    }

    @Test(arguments: [1, 3, 20_000])
    func `frames of an animation are counted`(count: Int) throws {
        let frames = Array(repeating: WebPFile.chunk("ANMF", [1, 2, 3]), count: count)
        let header = try inspect(WebPFile.file([WebPFile.canvas(300, 200, flags: 0x02)] + frames))
        #expect(header.frames == count)
        #expect(header.size == size)
    }

    @Test func `a truncated profile has its available length`() throws {
        let file = WebPFile.file([
            WebPFile.canvas(300, 200, flags: 0x22), WebPFile.chunk("ANMF", [1, 2, 3]),
            WebPFile.chunk("ICCP", [UInt8](repeating: 0, count: 1_000)),
        ])
        #expect(try inspect(file).profileByteCount == 1_000)
        #expect(try inspect(file.dropLast(900)).profileByteCount == 100)
    }

    @Test func `a tiny file with a huge canvas has its size`() throws {
        let file = WebPFile.file([
            WebPFile.canvas(16_383, 16_383, flags: 0x02), WebPFile.chunk("ANIM", [0, 0, 0, 0, 0, 0]),
            WebPFile.chunk("ANMF", [UInt8](repeating: 0, count: 16)),
        ])
        #expect(file.count < 100)
        #expect(try inspect(file).size.area == 16_383 * 16_383)
    }

    @Test func `an undecodable file is rejected`() {
        #expect(isDamaged(WebPFile.file([])))
        #expect(isDamaged(WebPFile.file([WebPFile.canvas(300, 200, flags: 0)])))
        #expect(isDamaged(WebPFile.file([WebPFile.canvas(300, 200, flags: 2)])))
        #expect(isDamaged(WebPFile.file([WebPFile.canvas(300, 201, flags: 0), WebPFile.lossy(300, 200)])))
        #expect(isDamaged(WebPFile.file([WebPFile.lossy(0, 200)])))
        #expect(isDamaged(WebPFile.file([WebPFile.chunk("VP8 ", [1, 0, 0, 0x9D, 1, 0x2A, 1, 0, 1, 0])])))
        #expect(isDamaged(WebPFile.file([WebPFile.chunk("VP8L", [0x2E, 0, 0, 0, 0])])))
        #expect(isDamaged(WebPFile.file([WebPFile.chunk("VP8 ", [0x10])])))
        // The frame header is after the chunk.
        #expect(isDamaged(WebPFile.file([WebPFile.chunk("VP8 ", []), [0, 0, 0, 0x9D, 1, 0x2A, 17, 0, 16, 0, 0, 0]])))
        // A truncated canvas chunk after a frame.
        let canvas = WebPFile.chunk("VP8X", [2, 0, 0, 0, 9, 0, 0, 9, 0, 0] + [UInt8](repeating: 0, count: 20))
        #expect(isDamaged(Array(WebPFile.file([WebPFile.chunk("ANMF", [1, 2]), canvas]).dropLast(8))))
    }

    @Test func `a file truncated within the header of its image is damaged`() {
        let bytes = WebPFile.file([WebPFile.lossy(300, 200)])
        for length in 12..<bytes.count {
            #expect(isDamaged(Array(bytes.prefix(length))) == (length < 30), "\(length) bytes")
        }
        #expect(!isDamaged(bytes + [1, 2, 3]))
    }
}
