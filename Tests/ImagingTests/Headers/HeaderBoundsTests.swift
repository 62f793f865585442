import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Long or repetitive headers are parsed quickly.
@Suite(.timeLimit(.minutes(1)))
struct HeaderBoundsTests {
    private static let link = Array(ICCWriter.profile(primaries: swapped).enumerated()).map {
        12..<16 ~= $0 ? Array("link".utf8)[$0 - 12] : $1
    }
    private static let swapped = [1, 0, 2].map { ICCWriter.standardPrimaries[$0] }
    private static let other = ICCWriter.profile(primaries: swapped)

    private func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        [[UInt8]](repeating: bytes, count: count).flatMap { $0 }
    }

    /// The items of a file with one item and these boxes.
    private func items(_ boxes: [UInt8]) throws -> HEIFItems {
        let file = HEIFBox.box("meta", [0, 0, 0, 0] + HEIFBox.full("pitm", [0, 1]) + boxes)
        return try SharedBytes(file).withBytes { bytes throws in try #require(try HEIFItems.all(bytes)) }
    }

    @Test func `an item that refers to another one repeatedly belongs to it once`() throws {
        let references = [2, 3].flatMap { item in
            HEIFBox.box("auxl", item.bigEndian16 + 4_500.bigEndian16 + repeated([0, 1], 4_500))
        }
        #expect(try items(HEIFBox.full("iref", references)).auxiliaries(of: 1) == [2, 3])
    }

    @Test(arguments: [40, 41])
    func `lists of properties have a common limit`(count: Int) {
        let lists = (1...count).flatMap { $0.bigEndian16 + [255] + [UInt8](repeating: 1, count: 255) }
        let properties = HEIFBox.box("ipco", HEIFBox.size(4, 4)) + HEIFBox.full("ipma", count.bigEndian32 + lists)
        #expect((try? items(HEIFBox.box("iprp", properties)))?.properties.count == (count == 40 ? 1 : nil))
    }

    @Test(arguments: [16, 17])
    func `items have a common limit of parts`(count: Int) {
        let entries = (1...count).flatMap { item -> [UInt8] in item.bigEndian16 + [0, 0, 1, 0] }
        let places = HEIFBox.full("iloc", [0, 0] + count.bigEndian16 + entries)
        #expect(((try? items(places)) != nil) == (count == 16))
    }

    @Test(arguments: [2_048, 2_049])
    func `a file's number of items is limited`(count: Int) {
        let entries = (1...count).flatMap { item -> [UInt8] in item.bigEndian16 + [0, 0, 0, 0] }
        let lists = (1...count).flatMap { item -> [UInt8] in item.bigEndian16 + [0] }
        let places = HEIFBox.full("iloc", [0, 0] + count.bigEndian16 + entries)
        let associations = HEIFBox.box("iprp", HEIFBox.full("ipma", count.bigEndian32 + lists))
        for boxes in [places, associations] { #expect(((try? items(boxes)) != nil) == (count == 2_048)) }
    }

    @Test(arguments: [8_192, 8_193])
    func `a file's number of properties is limited`(count: Int) {
        let properties = HEIFBox.box("iprp", HEIFBox.box("ipco", repeated(HEIFBox.box("free", []), count)))
        #expect(((try? items(properties)) != nil) == (count == 8_192))
    }

    @Test(arguments: [10_000, 10_001])
    func `a file has at most as many references as an image may have tiles`(count: Int) {
        let references = HEIFBox.box("dimg", 2.bigEndian16 + count.bigEndian16 + repeated([0, 1], count))
        #expect(((try? items(HEIFBox.full("iref", references))) != nil) == (count == 10_000))
    }

    @Test(arguments: [4_096, 4_097])
    func `a JPEG XL codestream's number of parts is limited`(count: Int) {
        let file = JXLContainer.signature + repeated(HEIFBox.box("jxlp", [0, 0, 0, 0]), count)
        let parts = SharedBytes(file).withBytes { bytes in (try? JXLContainer.fragments(bytes))?.count }
        #expect(parts == (count == 4_096 ? count : nil))
    }

    @Test func `bits are read across bytes, and are zeros after the end`() {
        var cursor = BitCursor([0xA5, 0x3C, 0xFF, 0x81, 0x7E])
        #expect(cursor.bits(3) == 5 && cursor.bits(9) == 0x194 && cursor.bits(0) == 0 && !cursor.isTruncated)
        #expect(cursor.bits(24) == 0xE81FF3 && cursor.bits(30) == 7 && cursor.isTruncated && cursor.bits(56) == 0)
        cursor.skip(1_000)
        #expect(cursor.bits(5) == 0)
    }

    @Test(arguments: [100_000, 1_200_000])
    func `stuffed bytes and restart markers of a JPEG file are limited`(count: Int) throws {
        let photo = ImageFixture.photo(width: 120, height: 90, format: .jpeg).array
        let scan = try #require(photo.indices.last { photo[$0...].starts(with: [0xFF, 0xDA]) })
        // In a progressive file, all scans are counted.
        var file = photo
        let frame = try #require(photo.indices.first { photo[$0...].starts(with: [0xFF, 0xC0]) })
        file[frame + 1] = 0xC2
        for pair in [[0xFF, 0], [0xFF, 0xD3]] as [[UInt8]] {
            let bytes = SharedBytes(file[..<(scan + 14)] + repeated(pair, count) + [0xFF, 0xD9])
            #expect(((try? ImageHeader.inspect(bytes)) != nil) == (count == 100_000))
        }
    }

    @Test func `the first box of a kind counts`() throws {
        func references(to item: Int) -> [UInt8] {
            HEIFBox.full("iref", HEIFBox.box("dimg", 1.bigEndian16 + 1.bigEndian16 + item.bigEndian16))
        }
        let properties = [3, 4].flatMap { HEIFBox.box("iprp", HEIFBox.box("ipco", HEIFBox.size($0, $0))) }
        let items = try items(references(to: 2) + references(to: 3) + properties)
        #expect(items.sources(of: 1) == [2])
        #expect(items.properties == [.size(PixelSize(width: 3, height: 3))])
    }

    @Test func `a track of thousands of boxes is not parsed`() throws {
        let size = PixelSize(width: 64, height: 48)
        let file = HEIFSequenceWriter([.plain(size, [1, 2, 3]), .plain(size, [3, 2, 1])]).file
        let place = try #require(file.indices.first { file[$0...].starts(with: "tkhd".utf8) }) - 4
        func padded(_ count: Int) -> [UInt8] {
            var file = file
            let boxes = repeated(HEIFBox.box("free", []), count)
            file.insert(contentsOf: boxes, at: place)
            for type in ["moov", "trak"] {
                guard let start = file.indices.first(where: { file[$0...].starts(with: type.utf8) }) else { continue }
                let length = file[start - 4..<start].reduce(0) { $0 << 8 | Int($1) }
                file.replaceSubrange(start - 4..<start, with: (length + boxes.count).bigEndian32)
            }
            return file
        }
        // The data is at another offset, but within the file.
        #expect(try inspect(padded(900)).frames == 2)
        #expect(isDamaged(padded(1_000)))
    }

    @Test func `an invalid profile is not read repeatedly`() throws {
        let size = PixelSize(width: 64, height: 48)
        let jpeg = ImageFixture.file(.plain(size, [1, 2, 3]), as: .jpeg)
        #expect(try inspect(JPEGWriter.profiled(jpeg, Self.other)).colors.space == .other)
        let both = JPEGWriter.profiled(JPEGWriter.profiled(jpeg, Self.other), Self.link)
        #expect(try inspect(both).colors.space == .srgb)

        var item = HEIFWriter.Item.coded(.plain(size, [1, 2, 3]))
        item.properties.append(HEIFBox.profile(Self.link))
        item.properties.append(HEIFBox.profile(Self.other))
        #expect(try inspect(HEIFWriter([item], primary: 1).file).colors.space == .srgb)
        item.properties.swapAt(2, 3)
        #expect(try inspect(HEIFWriter([item], primary: 1).file).colors.space == .other)

        let webp = ImageFixture.file(.plain(size, [1, 2, 3]), as: .webp)
        var profiled = WebPWriter.profiled(webp, width: 64, height: 48, hasAlpha: false, Self.other)
        #expect(try inspect(profiled).colors.space == .other)
        let chunk = Array("ICCP".utf8) + Self.link.count.littleEndian32 + Self.link
        profiled.insert(contentsOf: chunk + [UInt8](repeating: 0, count: chunk.count % 2), at: 30)
        profiled.replaceSubrange(4..<8, with: (profiled.count - 8).littleEndian32)
        #expect(try inspect(profiled).colors.space == .srgb)
    }

    @Test func `a JPEG of a hundred thousand segments is rejected`() throws {
        let file = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [1, 2, 3]), as: .jpeg)
        #expect(throws: ImagingError.cannotDecode(detail: "the JPEG file has too many segments")) {
            try inspect(Array(file[..<2]) + repeated([0xFF, 0xFE, 0, 2], 100_000) + file[2...])
        }
        #expect(try inspect(Array(file[..<2]) + repeated([0xFF, 0xFE, 0, 2], 99_000) + file[2...]).bands == 3)
    }

    @Test func `no more than eight XMP packets are searched`() {
        func segments(_ packets: Int) -> JPEGGainMapSegments {
            let start = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
            let space = Array("http://ns.adobe.com/hdr-gain-map/1.0/".utf8)
            var segments = JPEGGainMapSegments()
            for packet in [[UInt8]](repeating: start, count: packets) + [start + space] {
                SharedBytes(packet).withBytes { segments.read($0, marker: 0xE1, at: 0..<packet.count) }
            }
            return segments
        }
        #expect(segments(7).isDeclared && !segments(8).isDeclared)
    }

    @Test func `nested images are searched for a map only to a limited depth`() throws {
        var writer = UltraHDRWriter.scene(PixelSize(width: 160, height: 120))
        writer.places = [.index]
        for (nested, isFound) in [(1, true), (5, false)] {
            writer.nested = nested
            #expect((try inspect(writer.file).gainMap != nil) == isFound)
        }
    }

    @Test func `a GIF of millions of blocks is rejected`() {
        let screen = Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, 2, 0x4C, 1, 0]
        for block in [[0x21, 0xFE, 0], [0x21, 0xFE] + repeated([1, 0], 40) + [0]] as [[UInt8]] {
            #expect(throws: ImagingError.cannotDecode(detail: "the GIF file has too many blocks")) {
                try inspect(screen + frame + repeated(block, 4_000_000 / (block.count == 3 ? 1 : 41) + 1) + [0x3B])
            }
        }
    }

    @Test func `a PNG of half a million chunks is rejected, and its first EXIF data count`() throws {
        let file = ImageFixture.file(.plain(PixelSize(width: 8, height: 8), [1, 2, 3]), as: .png)
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
            data.count.bigEndian32 + Array(type.utf8) + data + [0, 0, 0, 0]
        }
        #expect(throws: ImagingError.cannotDecode(detail: "the PNG file has too many chunks")) {
            try inspect(Array(file[..<33]) + repeated(chunk("teXt", []), 500_000) + file[33...])
        }
        let turns = [6, 3].flatMap { chunk("eXIf", EXIF.block(orientation: $0)) }
        #expect(try inspect(Array(file[..<33]) + turns + file[33...]).orientation.exif == 6)
    }
}
