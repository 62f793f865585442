import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// The Exif texts that `/info` returns.
struct EXIFTextsTests {
    private static let texts = [
        (0x010F, Array("Alpine".utf8)), (0x0110, Array("A1".utf8)), (0x0132, Array("2026:11:22 10:00:00".utf8)),
        (0x013B, Array("Ann".utf8)), (0x8298, Array("© Ann".utf8)),
    ]

    /// Big-endian EXIF data with these texts; short ones are stored in their entry.
    private static func exif(_ texts: [(tag: Int, text: [UInt8])]) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var bytes = Array("MM\0*".utf8) + number(8, 4) + number(texts.count, 2)
        var rest: [UInt8] = []
        let start = 8 + 2 + texts.count * 12 + 4
        for (tag, text) in texts {
            let value = text + [0]
            bytes += number(tag, 2) + number(2, 2) + number(value.count, 4)
            if value.count <= 4 {
                bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                bytes += number(start + rest.count, 4)
                rest += value
            }
        }
        return bytes + number(0, 4) + rest
    }

    private func texts(_ exif: [UInt8]) throws -> EXIFTexts? {
        try inspect(JPEGFile(segments: [JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + exif)]).bytes).exif
    }

    private static let all = EXIFTexts(
        make: texts[0].1, model: texts[1].1, dateTime: texts[2].1,
        attribution: Attribution(artist: texts[3].1, copyright: texts[4].1))

    @Test func `all five texts are read from JPEG, PNG and WebP`() throws {
        let exif = Self.exif(Self.texts)
        #expect(try texts(exif) == Self.all)
        let size = PixelSize(width: 8, height: 8)
        let image = SampleImage.plain(size, [1, 2, 3])
        let png = PNGFormat.withEXIF(SharedBytes(ImageFixture.file(image, as: .png)), exif: exif, size: size)
        #expect(try ImageHeader.inspect(png).exif == Self.all)
        let webp = WebPFormat.withEXIF(SharedBytes(ImageFixture.file(image, as: .webp)), exif: exif, size: size)
        #expect(try ImageHeader.inspect(webp).exif == Self.all)
    }

    @Test func `each text may be missing`() throws {
        for index in Self.texts.indices {
            var some = Self.texts
            some.remove(at: index)
            let found = try #require(try texts(Self.exif(some)))
            let missing = [
                found.make, found.model, found.dateTime, found.attribution?.artist ?? [],
                found.attribution?.copyright ?? [],
            ].indices(where: \.isEmpty)
            #expect(missing == RangeSet(index..<index + 1))
        }
        #expect(try texts(Self.exif([])) == nil)
    }

    @Test func `a camera text of more than 255 bytes is ignored`() throws {
        for (count, isRead) in [(255, true), (256, false)] {
            let long = [UInt8](repeating: 65, count: count)
            #expect(try (texts(Self.exif([(0x010F, long)])) != nil) == isRead)
        }
    }

    @Test func `the first entry of a tag counts, so that thousands of entries cost one copy`() throws {
        #expect(try texts(Self.exif([(0x010F, []), (0x010F, Array("second".utf8)), (0x0110, [66])]))?.make == [])
        #expect(try texts(Self.exif([(0x010F, [65]), (0x010F, [66])]))?.make == [65])
    }

    @Test func `every entry may name any tag, and no position is read`() throws {
        // A GPS directory and all other tags, with a text that must not appear.
        let others = [0x8825, 0x8769, 0x0001, 0x0002, 0x9003, 0xFFFF].map { ($0, Array("46°N 7°E".utf8)) }
        #expect(try texts(Self.exif(others)) == nil)
        #expect(try texts(Self.exif(others + [(0x010F, [65])])) == EXIFTexts(make: [65]))
    }
}
