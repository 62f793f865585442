import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// The largest image of an icon is decoded, from PNG or from a bitmap with its mask.
@Suite(.timeLimit(.minutes(1)))
struct IconTests {
    @Test(arguments: BMPWriter.Coding.allCases.filter { ![.runs4, .runs8].contains($0) }, [40, 108])
    func `a bitmap is visible only within its mask`(coding: BMPWriter.Coding, length: Int) throws {
        let size = PixelSize(width: 20, height: 14)
        let file = IconWriter.file([.bitmap(coding, size, headerLength: length) { x, y in x < 10 && y < 7 }])
        let image = try decode(file)
        #expect(image.size == size && image.bands == 4 && !image.isIncomplete)
        let hasAlpha = coding == .fields32
        let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
        for (index, place) in [(2, 2), (15, 2), (2, 10), (15, 10)].enumerated() {
            let pixel = image.pixel(x: place.0, y: place.1)
            let number = coding == .one ? index % 2 : index
            #expect(Array(pixel.prefix(3)) == colors[number])
            #expect(pixel[3] == (hasAlpha ? index == 3 ? 128 : 255 : index == 0 ? 0 : 255))
        }
    }

    @Test(arguments: [false, true])
    func `the fourth byte of 32 bits is alpha, unless all are zero`(isSet: Bool) throws {
        var entry = IconWriter.Entry.bitmap(.thirtyTwo, PixelSize(width: 8, height: 8)) { x, _ in x == 0 }
        if isSet { for index in 0..<64 { entry.data[40 + 4 * index + 3] = UInt8(index + 1) } }
        let image = try decode(IconWriter.file([entry]))
        // Rows are stored from the bottom up.
        #expect(image.pixel(x: 0, y: 7)[3] == (isSet ? 1 : 0) && image.pixel(x: 7, y: 0)[3] == (isSet ? 64 : 255))
    }

    @Test func `the largest image counts, and among equal sizes the one with most bits`() throws {
        func png(_ side: Int, _ color: [UInt8]) -> IconWriter.Entry {
            .png(.plain(PixelSize(width: side, height: side), color))
        }
        let small = IconWriter.Entry.bitmap(.twentyFour, PixelSize(width: 32, height: 32))
        let large = png(256, [0, 0, 255])
        let header = try inspect(IconWriter.file([small, large, png(48, [9, 9, 9])]))
        #expect(header.format == .ico && header.size == PixelSize(width: 256, height: 256) && !header.hasAlpha)
        let image = try decode(IconWriter.file([small, large, png(48, [9, 9, 9])]))
        #expect(image.isClose(x: 9, y: 9, to: [0, 0, 255]))
        let palette = IconWriter.Entry.bitmap(.eight, PixelSize(width: 32, height: 32))
        #expect(try decode(IconWriter.file([palette, png(32, [1, 2, 3])])).isClose(x: 3, y: 3, to: [1, 2, 3]))
        // Damaged entries are ignored.
        var broken = large
        broken.data.removeAll()
        #expect(try inspect(IconWriter.file([small, broken])).size == PixelSize(width: 32, height: 32))
    }

    @Test func `an icon is decoded in a sandbox, returned as PNG, has a cost, and is reduced`() throws {
        #expect(ImageFormat.distrusted.contains(.ico) && ImageFormat.ico.outputFormat(hasAlpha: true) == .png)
        let size = PixelSize(width: 64, height: 48)
        let entry = IconWriter.Entry.png(.quarters(size))
        let header = try inspect(IconWriter.file([entry]))
        #expect(header.cost(of: DecodePlan()) > 10 * size.area)
        let image = try decode(IconWriter.file([entry]), level: 4)
        #expect(image.size == PixelSize(width: 16, height: 12) && image.isClose(x: 2, y: 2, to: [255, 0, 0]))
    }

    @Test func `truncated and corrupted files are harmless`() throws {
        let size = PixelSize(width: 9, height: 7)
        for entry in [IconWriter.Entry.bitmap(.four, size) { x, y in x == y }, .png(.quarters(size))] {
            let file = IconWriter.file([entry, .bitmap(.thirtyTwo, PixelSize(width: 4, height: 4))])
            for index in file.indices.prefix(140) {
                for byte in [0, 1, 0x7F, 0xFF] as [UInt8] {
                    var changed = file
                    changed[index] = byte
                    guard let header = try? inspect(changed), header.storedSize.area < 1 << 16 else { continue }
                    _ = try? decode(changed)
                    _ = try? decode(Array(changed.prefix(index + 20)))
                }
            }
        }
        #expect(isDamaged([0, 0, 1, 0, 0, 0]) && isDamaged([0, 0, 1, 0, 9, 0, 1, 1]))
        #expect(throws: ImagingError.notAnImage) { try inspect([0, 0, 2, 0, 1, 0, 1, 1]) }
    }

    @Test func `the chunks of an image are parsed once, regardless of the number of its entries`() {
        var png = PNGWriter(width: 9, height: 9, colorType: .rgb)
        png.laterChunks = (0..<20_000).map { _ in ("teXt", []) }
        let file = png.file { x, y in [x, y, 0] }
        let entries = (0..<255).flatMap { _ -> [UInt8] in
            [9, 9, 0, 0, 1, 0, 32, 0] + file.count.littleEndian32 + (6 + 255 * 16).littleEndian32
        }
        let start = threadTime
        #expect(throws: Never.self) { try inspect([0, 0, 1, 0, 255, 0] + entries + file) }
        #expect(threadTime - start < .milliseconds(500))
    }

    private func decode(_ file: [UInt8], level: Int = 1) throws -> DecodedImage {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: DecodePlan(level: level), limits: .none, token: WorkToken())
    }
}
