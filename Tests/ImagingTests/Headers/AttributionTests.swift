import Memory
import TestSupport
import Testing

@testable import Imaging

/// The maker's name and the rights, from the source's Exif to the answer's.
struct AttributionTests {
    private static let artist = Array("Ann Ⓐ".utf8)
    private static let copyright = Array("© 2026 Ann".utf8)

    /// An entry of an EXIF directory, with its value's own field.
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

    /// EXIF data: a directory at byte 8, that names itself as the next one, then `rest`.
    private func exif(_ entries: [Entry], rest: [UInt8] = [], isLittle: Bool = false) -> [UInt8] {
        var bytes = isLittle ? Array("II*\0".utf8) : Array("MM\0*".utf8)
        bytes += number(8, 4, isLittle: isLittle) + number(entries.count, 2, isLittle: isLittle)
        for entry in entries {
            bytes += number(entry.tag, 2, isLittle: isLittle) + number(entry.type, 2, isLittle: isLittle)
            bytes += number(entry.count, 4, isLittle: isLittle) + number(entry.value, 4, isLittle: isLittle)
        }
        return bytes + number(8, 4, isLittle: isLittle) + rest
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

    @Test func `a short text lies in its entry`() throws {
        let header = try header(exif([Entry(tag: 0x8298, count: 3, value: 0x4142_0000)]))
        #expect(header.attribution == Attribution(artist: [], copyright: Array("AB".utf8)))
    }

    @Test func `texts that are too long, of another type, empty or beyond the data are left out`() throws {
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

    @Test func `damaged data cost at most the texts`() throws {
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
    func `answers in JPEG, PNG and WebP keep both texts if they are asked to`(format: ImageFormat) throws {
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
        // The same pixels, and the answer's own answer still says so.
        #expect(try ImageReading.decode(kept.bytes).pixels.array == ImageReading.decode(plain.bytes).pixels.array)
        let again = try thumbnail(kept.bytes, options, .png)
        #expect(try ImageHeader.inspect(again.bytes).attribution == wanted)
    }

    @Test func `a WebP file with alpha or frames keeps both`() throws {
        var options = RenderingOptions()
        (options.isAnimated, options.keepsCopyright) = (true, true)
        for fixture in [ImageFixture.webpHalfTransparent, .webpAnimated] {
            let plain = try ImageHeader.inspect(fixture.bytes)
            let source = EXIFWriting.webp(
                fixture.bytes, exif([Entry(tag: 0x8298, count: 2, value: 0x4100_0000)]), plain.size)
            let kept = try thumbnail(source, options, .webp)
            let header = try ImageHeader.inspect(kept.bytes)
            #expect(header.attribution == Attribution(artist: [], copyright: Array("A".utf8)))
            #expect(header.frames == plain.frames && header.hasAlpha == plain.hasAlpha)
        }
    }

    @Test func `the texts count for the bytes that an answer may have`() throws {
        let source = try attributed()
        var options = RenderingOptions()
        (options.width, options.keepsCopyright) = (30, true)
        let most = try thumbnail(source, options, .jpeg).bytes.count
        options.maximumBytes = most - 1
        let found = try thumbnail(source, options, .jpeg)
        #expect(found.bytes.count < most)
        #expect(try ImageHeader.inspect(found.bytes).attribution != nil)
    }

    @Test func `only a source with texts has another key`() throws {
        func key(_ attribution: Attribution?, _ format: ImageFormat) throws -> [String] {
            let header = ImageHeader(
                format: .jpeg, storedSize: PixelSize(width: 400, height: 300), attribution: attribution)
            let wish = options(200, nil) { $0.keepsCopyright = true }
            return try RenderPlan(options: wish, format: format, source: header, limits: ImagingLimits()).keyTexts
        }
        let texts = Attribution(artist: [], copyright: [65])
        #expect(try key(texts, .jpeg) == key(nil, .jpeg) + ["copyright"])
        #expect(try key(texts, .avif) == key(nil, .avif))
    }
}
