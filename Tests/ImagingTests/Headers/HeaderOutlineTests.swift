import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Headers read from a few bytes of a long file.
struct HeaderOutlineTests {
    /// The header, and the ranges read after the first 64 KiB; nil if the whole file is needed.
    private func outline(_ bytes: [UInt8]) throws -> (header: ImageHeader, parts: [Range<Int>])? {
        var file = try #require(PartialFile(count: bytes.count))
        file.add(SharedBytes(bytes[..<min(65_536, bytes.count)]), at: 0)
        var parts: [Range<Int>] = []
        for _ in 0..<64 {
            let reading = try #require(file.read { span in Result { try ImageHeader.outline(span) } })
            guard let missing = reading.missing.first else {
                return try reading.value.get().map { ($0, parts) }
            }
            let range = missing.prefix(PartialFile.page)
            parts.append(range)
            file.add(SharedBytes(bytes[range]), at: range.lowerBound)
        }
        return nil
    }

    private func isEqual(_ one: ImageHeader, _ other: ImageHeader) -> Bool {
        one.format == other.format && one.size == other.size && one.orientation == other.orientation
            && one.frames == other.frames && one.hasAlpha == other.hasAlpha && one.bitDepth == other.bitDepth
            && one.isProgressive == other.isProgressive && one.colors == other.colors && one.exif == other.exif
            && one.rights == other.rights
    }

    private static let samples: [UnwrittenImages.Sample] =
        ImageFixture.readable.map { ($0.rawValue, $0.array) } + UnwrittenImages.all
        + [ImageFixture.avif].map { ($0.rawValue, $0.array) }

    @Test(arguments: samples.indices)
    func `an outline agrees with the header of the whole file`(index: Int) throws {
        let (name, file) = Self.samples[index]
        let outline = try SharedBytes(file).withBytes { try ImageHeader.outline($0) }
        guard let outline else { return #expect(["webpAnimated", "gif", "gifAnimated"].contains(name), "\(name)") }
        #expect(try isEqual(outline, inspect(file)), "\(name)")
    }

    @Test func `a walk over chunks ends at unknown bytes`() throws {
        let webp =
            Array("RIFF".utf8) + [0, 0, 0, 8] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 12, 0, 0, 0, 63, 0, 0, 47, 0, 0]
        for head in [webp, Array(ImageFixture.png.array.prefix(33))] {
            var file = try #require(PartialFile(count: 64 << 20))
            file.add(SharedBytes(head + [UInt8](repeating: 0, count: PartialFile.page - head.count)), at: 0)
            let long = try #require(file.read { span in Result { try ImageHeader.outline(span) } })
            #expect(long.missing.allSatisfy { $0.upperBound <= 2 * PartialFile.page }, "\(long.missing)")
        }
    }

    @Test func `damage within the header is the same error`() throws {
        for fixture in [ImageFixture.text, .empty, .jpegHeadOnly] {
            let whole = try #require(throws: ImagingError.self) { try inspect(fixture.array) }
            #expect(throws: whole) { try fixture.bytes.withBytes { try ImageHeader.outline($0) } }
        }
    }

    /// A few megabytes of pixels with arbitrary values.
    private static let pixels = (0..<3_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 11) }

    private func png(rowsChunk: Int, _ change: (inout PNGWriter) -> Void = { _ in }) -> [UInt8] {
        var writer = PNGWriter(width: 1_000, height: 999, colorType: .rgb)
        writer.rowsChunk = rowsChunk
        change(&writer)
        return writer.file(deflated: Self.pixels)
    }

    @Test(arguments: [Int.max, 8_192, 16_384, 65_536, 100_000])
    func `the chunks of pixels of a PNG are skipped, and those behind them are read`(length: Int) throws {
        let text = Array("XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        let file = png(rowsChunk: length) { writer in
            writer.laterChunks = [("eXIf", exif(orientation: 6)), ("iTXt", text)]
        }
        let (header, parts) = try #require(try outline(file))
        #expect(try header.orientation == QuarterTurn(exif: 6) && isEqual(header, inspect(file)))
        // The last 32 KiB, and the positions where the last chunks may begin.
        #expect(parts.count <= 10 && parts.allSatisfy { $0.lowerBound > file.count - 120_000 }, "\(parts)")
    }

    /// The tenth chunk of pixels is 17 bytes shorter.
    private func irregularPNG(rowsChunk length: Int) throws -> [UInt8] {
        var file = png(rowsChunk: length)
        let first = try #require(file.indices.first { file[$0...].starts(with: Array("IDAT".utf8)) }) - 4
        let place = first + 9 * (length + 12)
        file.removeSubrange(place + 8..<place + 25)
        file.replaceSubrange(place..<place + 4, with: (length - 17).bigEndian32)
        return file
    }

    @Test func `of PNG chunks with different lengths, the last is found if it is short`() throws {
        let file = try irregularPNG(rowsChunk: 8_192)
        let (header, parts) = try #require(try outline(file))
        #expect(try isEqual(header, inspect(file)))
        #expect(parts.count <= 9 && parts.allSatisfy { $0.lowerBound > file.count - 50_000 }, "\(parts)")
    }

    @Test func `a PNG with long chunks of different lengths or an animation takes the whole file`() throws {
        #expect(try outline(irregularPNG(rowsChunk: 40_000)) == nil)
        let animated = png(rowsChunk: .max) { $0.chunks = [("acTL", [0, 0, 0, 2, 0, 0, 0, 0])] }
        #expect(try outline(animated) == nil)
    }

    @Test func `a progressive JPEG ends with its first scan`() throws {
        var file = ImageFixture.jpegProgressive.array
        file.removeLast(2)
        let (header, parts) = try #require(try outline(file + Self.pixels))
        #expect(header.isProgressive && parts.isEmpty)
    }

    @Test func `a JPEG header beyond the first part is read on`() throws {
        let comment: [UInt8] = [0xFF, 0xFE, 0xFF, 0xFF] + [UInt8](repeating: 32, count: 65_533)
        let file = ImageFixture.jpegOrientation6.array
        let (header, parts) = try #require(try outline(file[..<2] + comment + file[2...] + Self.pixels))
        #expect(try isEqual(header, inspect(file)))
        #expect(parts.first?.lowerBound == 65_536 && parts.count == 1)
    }

    @Test func `a TIFF directory at the end is found`() throws {
        let file = TIFFWriter([
            TIFFWriter.Page(PixelSize(width: 1_000, height: 900)) { x, y in [x & 255, y & 255, 7] }
        ]).file
        let (header, parts) = try #require(try outline(file))
        #expect(try isEqual(header, inspect(file)) && parts.count <= 2, "\(parts)")
    }

    @Test func `only the headers of tiles are skipped, and an item at the end is found`() throws {
        let image = SampleImage.quarters(PixelSize(width: 64, height: 64))
        let tiles = (1...40).map { index -> HEIFWriter.Item in
            var tile = HEIFWriter.Item.coded(image, id: index)
            tile.data += Self.pixels.prefix(70_000)
            return tile
        }
        let grid = HEIFWriter.Item.grid(
            of: tiles.map(\.id), columns: 8, size: PixelSize(width: 512, height: 320), id: 50)
        let texts = HEIFWriter.Item(id: 60, type: "Exif", data: [0, 0, 0, 0] + exif(orientation: 6))
        let file = HEIFWriter(tiles + [grid, texts], primary: 50).file
        let (header, parts) = try #require(try outline(file))
        #expect(try isEqual(header, inspect(file)) && header.exif != nil)
        #expect(parts.count == 1 && parts.allSatisfy { $0.lowerBound > 2_700_000 }, "\(parts)")
    }
}
