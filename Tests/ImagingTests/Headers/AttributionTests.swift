import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Artist and copyright from the source's Exif to the result's.
struct AttributionTests {
    private static let artist = Array("Ann Ⓐ".utf8)
    private static let copyright = Array("© 2026 Ann".utf8)

    /// An entry of an EXIF directory, whose value is in the entry.
    private struct Entry {
        var tag: Int
        var type = 2
        var count: Int
        var value: Int
    }

    private func number(_ value: Int, _ count: Int, isLittle: Bool) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isLittle ? bytes : bytes.reversed()
    }

    /// EXIF data: a directory at byte 8, which by default names itself as the next one, then `rest`.
    private func exif(
        _ entries: [Entry], next: Int = 8, rest: [UInt8] = [], isLittle: Bool = false
    ) -> [UInt8] {
        var bytes = isLittle ? Array("II*\0".utf8) : Array("MM\0*".utf8)
        bytes += number(8, 4, isLittle: isLittle) + number(entries.count, 2, isLittle: isLittle)
        for entry in entries {
            bytes += number(entry.tag, 2, isLittle: isLittle) + number(entry.type, 2, isLittle: isLittle)
            bytes += number(entry.count, 4, isLittle: isLittle) + number(entry.value, 4, isLittle: isLittle)
        }
        return bytes + number(next, 4, isLittle: isLittle) + rest
    }

    private func header(_ exif: [UInt8]) throws -> ImageHeader {
        try inspect(JPEGFile(segments: [JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + exif)]).bytes)
    }

    private func usual(isLittle: Bool = false) -> [UInt8] {
        let start = 8 + 2 + 3 * 12 + 4
        return exif(
            [
                Entry(tag: 0x0112, type: 3, count: 1, value: isLittle ? 6 : 6 << 16),
                Entry(tag: 0x013B, count: Self.artist.count + 1, value: start),
                Entry(tag: 0x8298, count: Self.copyright.count + 1, value: start + Self.artist.count + 1),
            ], rest: Self.artist + [0] + Self.copyright + [0], isLittle: isLittle)
    }

    @Test(arguments: [false, true]) func `both texts are read beside the orientation`(isLittle: Bool) throws {
        let header = try header(usual(isLittle: isLittle))
        #expect(header.attribution == Attribution(artist: Self.artist, copyright: Self.copyright))
        #expect(header.orientation == 6)
    }

    @Test func `a short text is stored in its entry`() throws {
        let header = try header(exif([Entry(tag: 0x8298, count: 3, value: 0x4142_0000)]))
        #expect(header.attribution == Attribution(artist: [], copyright: Array("AB".utf8)))
    }

    @Test func `texts that are too long, empty, of another type or beyond the data are ignored`() throws {
        let long = [UInt8](repeating: 65, count: 5_000)
        for (entry, isRead) in [
            (Entry(tag: 0x8298, count: 4_097, value: 26), true), (Entry(tag: 0x8298, count: 4_098, value: 26), false),
            (Entry(tag: 0x8298, count: 0xFFFF_FFFF, value: 26), false),
            (Entry(tag: 0x8298, count: 0, value: 26), false),
            (Entry(tag: 0x8298, type: 7, count: 9, value: 26), false),
            (Entry(tag: 0x8298, count: 9, value: 0xFFFF_FFF0), false),
            (Entry(tag: 0x8298, count: 9, value: 5_020), false),
        ] {
            let end: [UInt8] = entry.count == 4_097 ? long.prefix(4_096) + [0] : long
            #expect(try (header(exif([entry], rest: end)).attribution != nil) == isRead)
        }
    }

    @Test func `damaged data drop at most the texts`() throws {
        let data = usual()
        for length in 0..<data.count { _ = try header(Array(data.prefix(length))) }
        for index in 0..<data.count {
            for bits in [0x01, 0x80, 0xFF] as [UInt8] {
                var broken = data
                broken[index] ^= bits
                let found = try header(broken).attribution
                #expect((found?.artist.count ?? 0) <= 4_096 && (found?.copyright.count ?? 0) <= 4_096)
            }
        }
    }

    private var wanted: Attribution? { Attribution(artist: Self.artist, copyright: Self.copyright) }

    @Test(arguments: [false, true]) func `TIFF has the texts in its first directory`(isLittle: Bool) throws {
        // The directory of a page of one pixel, followed by the texts.
        let start = 8 + 2 + 8 * 12 + 4
        let (one, short) = (isLittle ? 1 : 1 << 16, 3)
        let file = exif(
            [
                Entry(tag: 256, type: short, count: 1, value: one), Entry(tag: 257, type: short, count: 1, value: one),
                Entry(tag: 258, type: short, count: 1, value: 8 * one),
                Entry(tag: 262, type: short, count: 1, value: one), Entry(tag: 273, type: 4, count: 1, value: 8),
                Entry(tag: 0x013B, count: Self.artist.count + 1, value: start),
                Entry(tag: 0x8298, count: Self.copyright.count + 1, value: start + Self.artist.count + 1),
                Entry(tag: 277, type: short, count: 1, value: one),
            ], next: 0, rest: Self.artist + [0] + Self.copyright + [0], isLittle: isLittle)
        #expect(try inspect(file).attribution == wanted)
    }

    /// An AVIF file whose item 5 is EXIF data.
    private func avif(_ exif: [UInt8], method: Int, version: UInt8, isLong: Bool) -> [UInt8] {
        let plain = HEIFFile().bytes
        var entries: [UInt8] = []
        for (item, type) in [(4, "av01"), (5, "Exif")] {
            var entry = FileBytes()
            entry.append(big: item, isLong ? 4 : 2)
            entry.append([0, 0])
            entry.append(text: type + "\0")
            entries += HEIFBox.full("infe", version: isLong ? 3 : 2, entry.bytes)
        }
        let count = isLong ? 2.bigEndian32 : [0, 2]
        let information = HEIFBox.full("iinf", version: isLong ? 1 : 0, count + entries)
        let data = 4.bigEndian32 + [9, 9, 9, 9] + exif
        func boxes(_ offset: Int) -> [UInt8] {
            var places = FileBytes([0x44, 0])
            places.append(big: 2, version < 2 ? 2 : 4)
            for (item, offset) in [(4, 77), (5, offset)] {
                places.append(big: item, version < 2 ? 2 : 4)
                if version > 0 { places.append(big: method, 2) }
                places.append([0, 0, 0, 1])
                places.append(big: offset, 4)
                places.append(big: data.count, 4)
            }
            let location = HEIFBox.full("iloc", version: version, places.bytes)
            return information + location + (method == 1 ? HEIFBox.box("idat", [7, 7] + data) : [])
        }
        // The new boxes are appended to `meta`, which precedes the last box.
        let end = plain.count - HEIFBox.box("mdat", [1, 2, 3]).count
        let start = plain.indices.first { plain[$0...].starts(with: "meta".utf8) } ?? 0
        let more = boxes(method == 1 ? 2 : end + boxes(0).count)
        let length = (end - start + 4 + more.count).bigEndian32
        var file = Array(plain[..<(start - 4)]) + length
        file += plain[start..<end]
        file += more
        return method == 1 ? file : file + data
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2)] as [(Int, UInt8)], [false, true])
    func `AVIF has the texts in an item, beside the image or in its metadata`(
        place: (method: Int, version: UInt8), isLong: Bool
    ) throws {
        let data = usual()
        let file = avif(data, method: place.method, version: place.version, isLong: isLong)
        let header = try inspect(file)
        #expect(header.attribution == wanted && header.orientation == 1)
        for index in file.indices {
            for bits in [0x01, 0x80, 0xFF] as [UInt8] {
                var broken = file
                broken[index] ^= bits
                _ = try? inspect(broken)
            }
        }
    }

    @Test(arguments: [0, 6]) func `JPEG XL has the texts in a box, before or after the image`(offset: Int) throws {
        let image = ImageFixture.file(SampleImage.plain(PixelSize(width: 8, height: 8), [1, 2, 3]), as: .jxl)
        let stream = try #require(image.firstRange(of: [0xFF, 0x0A])).lowerBound
        let data = HEIFBox.box("Exif", offset.bigEndian32 + [UInt8](repeating: 9, count: offset) + usual())
        let code = HEIFBox.box("jxlc", Array(image[stream...]))
        let start: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
        let kind = HEIFBox.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
        for file in [start + kind + data + code, start + kind + code + data] {
            let header = try inspect(file)
            #expect(header.attribution == wanted && header.orientation == 1)
        }
        // An offset beyond the box.
        let wrong = HEIFBox.box("Exif", 4_000.bigEndian32 + usual())
        #expect(try inspect(start + kind + wrong + code).attribution == nil)
        #expect(try inspect(start + kind + code).attribution == nil)
    }

    /// The photograph with the usual EXIF data, upright.
    private func attributed() throws -> SharedBytes {
        let start = 8 + 2 + 2 * 12 + 4
        let data = exif(
            [
                Entry(tag: 0x013B, count: Self.artist.count + 1, value: start),
                Entry(tag: 0x8298, count: Self.copyright.count + 1, value: start + Self.artist.count + 1),
            ], rest: Self.artist + [0] + Self.copyright + [0])
        let plain = ImageFixture.photo(width: 60, height: 40).array
        return SharedBytes(plain[..<2] + JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + data) + plain[2...])
    }

    @Test(arguments: ImageFormat.written)
    func `responses in JPEG, PNG and WebP preserve both texts on request`(format: ImageFormat) throws {
        let source = try attributed()
        let wanted = Attribution(artist: Self.artist, copyright: Self.copyright)
        #expect(try ImageHeader.inspect(source).attribution == wanted)
        var options = RenderingOptions()
        options.width = 30
        let plain = try thumbnail(source, options, format)
        #expect(try ImageHeader.inspect(plain.bytes).attribution == nil)
        options.keepsCopyright = true
        let kept = try thumbnail(source, options, format)
        let header = try ImageHeader.inspect(kept.bytes)
        guard [.jpeg, .png, .webp].contains(format) else {
            #expect(kept.bytes.array == plain.bytes.array)
            return
        }
        #expect(header.attribution == wanted && header.orientation == 1)
        #expect(kept.bytes.count > plain.bytes.count)
        // The pixels are the same, and a result made from this result keeps the texts.
        #expect(try ImageReading.decode(kept.bytes).pixels.array == ImageReading.decode(plain.bytes).pixels.array)
        let again = try thumbnail(kept.bytes, options, .png)
        #expect(try ImageHeader.inspect(again.bytes).attribution == wanted)
    }

    @Test func `a WebP file with alpha or frames preserves both`() throws {
        var options = RenderingOptions()
        (options.isAnimated, options.keepsCopyright) = (true, true)
        for fixture in [ImageFixture.webpHalfTransparent, .webpAnimated] {
            let plain = try ImageHeader.inspect(fixture.bytes)
            let source = WebPFormat.withEXIF(
                fixture.bytes, exif: exif([Entry(tag: 0x8298, count: 2, value: 0x4100_0000)]), size: plain.size)
            let kept = try thumbnail(source, options, .webp)
            let header = try ImageHeader.inspect(kept.bytes)
            #expect(header.attribution == Attribution(artist: [], copyright: Array("A".utf8)))
            #expect(header.frames == plain.frames && header.hasAlpha == plain.hasAlpha)
        }
    }

    @Test func `the texts count toward the size limit of a response`() throws {
        let source = try attributed()
        var options = RenderingOptions()
        (options.width, options.keepsCopyright) = (30, true)
        let maximum = try thumbnail(source, options, .jpeg).bytes.count
        options.maximumBytes = maximum - 1
        let found = try thumbnail(source, options, .jpeg)
        #expect(found.bytes.count < maximum)
        #expect(try ImageHeader.inspect(found.bytes).attribution != nil)
    }

    @Test func `only a source with texts has another key`() throws {
        func key(_ attribution: Attribution?, _ format: ImageFormat) throws -> [String] {
            let header = ImageHeader(
                format: .jpeg, storedSize: PixelSize(width: 400, height: 300),
                exif: EXIFTexts(attribution: attribution))
            let wish = options(200, nil) { $0.keepsCopyright = true }
            return try RenderPlan(options: wish, format: format, source: header, limits: ImagingLimits()).keyTexts
        }
        let texts = Attribution(artist: [], copyright: [65])
        #expect(try key(texts, .jpeg) == key(nil, .jpeg) + ["copyright"])
        #expect(try key(texts, .avif) == key(nil, .avif))
    }
}
