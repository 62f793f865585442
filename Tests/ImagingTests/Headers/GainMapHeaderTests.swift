import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// The gain map in the header of a JPEG file.
struct GainMapHeaderTests {
    private static let size = PixelSize(width: 160, height: 120)

    /// The metadata of the default writer.
    private static var metadata: GainMapMetadata {
        var channel = GainMapMetadata.Channel(maximum: .init(3))
        (channel.baseOffset, channel.alternateOffset) = (.init(1, 64), .init(1, 32))
        return GainMapMetadata(alternateHeadroom: .init(3), channels: [channel])
    }

    private func isSame(_ metadata: GainMapMetadata, _ other: GainMapMetadata) -> Bool {
        metadata.channels.count == other.channels.count
            && zip(metadata.fractions, other.fractions).allSatisfy { $0.value == $1.value }
    }

    @Test(arguments: UltraHDRWriter.Form.allCases, UltraHDRWriter.Place.allCases)
    func `a map is found at either position, and its numbers in either form`(
        form: UltraHDRWriter.Form, place: UltraHDRWriter.Place
    ) throws {
        var writer = UltraHDRWriter.scene(Self.size)
        (writer.forms, writer.places) = ([form], [place])
        let header = try inspect(writer.file)
        let map = try #require(header.gainMap)
        #expect(map.header.storedSize == PixelSize(width: 40, height: 30) && map.header.bands == 1)
        #expect(isSame(map.metadata, Self.metadata))
        #expect(header.colors.hdrFormat == .gainMap)
        let file = try #require(map.file(in: writer.bytes))
        #expect(try ImageHeader.inspect(file) == map.header)
    }

    @Test func `a map of more pixels than its image costs by its pixels`() {
        func time(_ map: PixelSize) -> Duration {
            var header = ImageHeader(format: .jpeg, storedSize: Self.size)
            header.gainMap = GainMap(
                .file(8_000..<9_000), header: ImageHeader(format: .jpeg, storedSize: map, bands: 1),
                metadata: Self.metadata)
            let plan = RenderPlan(
                decode: DecodePlan(keepsGainMap: true), source: header.shape, steps: [], format: .jpeg, quality: 80)
            return plan.timeCost(of: header)
        }
        let large = time(PixelSize(width: 8_000, height: 6_000)) - time(Self.size)
        #expect(large > .milliseconds(200) && large < .milliseconds(300))
    }

    @Test(arguments: UltraHDRWriter.Form.allCases)
    func `a map of three components has three sets of numbers`(form: UltraHDRWriter.Form) throws {
        var writer = UltraHDRWriter.scene(Self.size, isColor: true)
        (writer.forms, writer.gains) = ([form], [(-8, 48), (0, 32), (1, 16)])
        let metadata = try #require(try inspect(writer.file).gainMap?.metadata)
        #expect(metadata.channels.map(\.minimum.value) == [-0.5, 0, 0.0625])
        #expect(metadata.channels.map(\.maximum.value) == [3, 2, 1])
        #expect(metadata.channels.map(\.gamma.value) == [1, 1, 1])
        #expect(GainMapMetadata(numbers: metadata.numbers) == metadata)
    }

    @Test func `a map is found before other data after the image`() throws {
        var writer = UltraHDRWriter.scene(Self.size)
        (writer.places, writer.trailer) = ([.container], [UInt8](repeating: 7, count: 5_000))
        #expect(try inspect(writer.file).gainMap != nil)
    }

    @Test func `a map is rotated like its image, regardless of its own orientation`() throws {
        var writer = UltraHDRWriter(
            .photo(Self.size), map: .plain(PixelSize(width: 20, height: 16), [9]), orientation: 6)
        writer.map = JPEGWriter.oriented(writer.map, 3)
        let map = try #require(try inspect(writer.file).gainMap)
        #expect(map.header.size == PixelSize(width: 16, height: 20))
        let file = try #require(map.file(in: writer.bytes))
        #expect(try ImageHeader.inspect(file).orientation == 6)
    }

    @Test func `damage drops the map, not the image`() throws {
        let whole = UltraHDRWriter.scene(Self.size)
        var other = whole
        other.map = Array("no image at all".utf8)
        var damaged = [other.file]
        other = whole
        other.forms = [.xmp]
        other.gains = [(48, 0)]
        damaged.append(other.file)
        // A file that ends before its map.
        damaged.append(Array(whole.file.dropLast(whole.map.count + 400)))
        for file in damaged {
            let header = try inspect(file)
            #expect(header.gainMap == nil && header.storedSize == Self.size)
            #expect(header.colors.hdrFormat == .gainMap)
        }
        // No content of the segments crashes the process.
        let file = whole.file
        for place in 0..<1_500 {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var other = file
                other[place] = value
                _ = try? inspect(other).gainMap?.file(in: SharedBytes(other))
            }
        }
    }

    @Test func `an Apple camera's file has only an index, and its headroom in the map or in the notes`() throws {
        let (photo, map) = (SampleImage.photo(Self.size), SampleImage.plain(PixelSize(width: 80, height: 60), [128]))
        let notes = UltraHDRWriter.appleNotes(500, 200)
        for (headroom, exif, stops) in [("4", nil, 2), (nil, notes, 1.5808), ("8", notes, 3)]
            as [(String?, [UInt8]?, Double)]
        {
            let header = try inspect(UltraHDRWriter.apple(photo, map: map, headroom: headroom, notes: exif).file)
            let found = try #require(header.gainMap)
            #expect(found.samples == .amounts && found.metadata.alternateHeadroom.value == stops)
            #expect(found.header.size == PixelSize(width: 80, height: 60) && header.colors.hdrFormat == .gainMap)
        }
        // Without a valid headroom, the file is an image followed by another one.
        for headroom in [nil, "1", "0", "-3", "nan", "99999"] {
            let header = try inspect(UltraHDRWriter.apple(photo, map: map, headroom: headroom).file)
            #expect(header.gainMap == nil && header.colors.hdrFormat == .none && header.storedSize == Self.size)
        }
    }

    @Test(arguments: [
        ("0.015625", 1, 64), ("3", 3, 1), ("-1.5", -3, 2), ("1e-3", 1, 1_000),
        ("5.622376441955566", 140_559_411, 25_000_000),
    ])
    func `decimal numbers are parsed to nine digits`(text: String, numerator: Int, denominator: Int) throws {
        let fraction = try #require(GainMapMetadata.Fraction(decimal: Array(text.utf8)))
        #expect((fraction.numerator, fraction.denominator) == (numerator, denominator))
    }

    @Test(arguments: ["", "nan", "inf", "0x10", "1e99", "3,5", " 1", "--1"])
    func `invalid numbers are rejected`(text: String) {
        #expect(GainMapMetadata.Fraction(decimal: Array(text.utf8)) == nil)
    }

    @Test func `numbers out of range are rejected`() {
        let numbers = Self.metadata.numbers
        #expect(GainMapMetadata(numbers: numbers) == Self.metadata)
        // The flag, denominators, a headroom of zero, a gamma of zero, and a minimum gain above the maximum.
        for (index, wrong) in [(0, 2), (2, 0), (4, -1), (3, 0), (9, 0), (5, 1 << 31), (5, 9)] {
            var other = numbers
            other[index] = wrong
            #expect(GainMapMetadata(numbers: other) == nil, "\(index)")
        }
        #expect(GainMapMetadata(numbers: numbers.dropLast()) == nil)
    }

    @Test func `a packet of unfinished tags is read to its end`() {
        for text in ["<", "<a", "<a b", "<a b=", "<a b='", "<a b='c", "</", "<!", "<a:b>x", "<rdf:li>1", ">'<"] {
            let bytes = SharedBytes(Array(text.utf8))
            bytes.withBytes { span in
                #expect(XMPPacket(span, at: 0..<span.byteCount).values("b", of: "c").isEmpty)
            }
        }
    }
}
