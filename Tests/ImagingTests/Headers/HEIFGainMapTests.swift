import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Gain maps of HEIC and AVIF files, in their items and in maker notes.
struct HEIFGainMapTests {
    private static let apple = HEIFBox.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")
    private static let size = PixelSize(width: 128, height: 96)

    /// An item of EXIF data with a camera's maker note.
    private func notes(_ headroom: Int, _ gain: Int) -> [UInt8] {
        6.bigEndian32 + UltraHDRWriter.appleNotes(headroom, gain)
    }

    /// A file with a uniform gain map of this size.
    private func writer(map value: UInt8, size: PixelSize = PixelSize(width: 64, height: 48)) -> HEIFWriter {
        let image = HEIFWriter.Item.coded(.photo(Self.size))
        let map = HEIFWriter.Item.coded(.plain(size, [value, value, value]), id: 2)
        return HEIFWriter([image, map], primary: 1)
    }

    private func appleFile(_ writer: HEIFWriter, _ exif: [UInt8]) -> [UInt8] {
        var writer = writer
        writer.items[1].properties.append(Self.apple)
        writer.items[1].references = [("auxl", [1])]
        writer.items.append(HEIFWriter.Item(id: 3, type: "Exif", data: exif))
        return writer.file
    }

    private func tonedFile(_ writer: HEIFWriter, _ numbers: [UInt8]) -> [UInt8] {
        var (writer, toned) = (writer, HEIFWriter.Item(id: 4, type: "tmap", data: numbers))
        toned.references = [("dimg", [1, 2])]
        writer.items.append(toned)
        return writer.file
    }

    private static let numbers: [UInt8] =
        [0, 0, 0, 0, 0, 0x40]
        + [(0, 1), (5, 2), (-1, 4), (5, 2), (1, 1), (1, 64), (1, 64)].flatMap { $0.0.bigEndian32 + $0.1.bigEndian32 }

    private func kept(_ file: [UInt8]) throws -> (metadata: GainMapMetadata, mean: [Double]) {
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.avif)
        var options = RenderingOptions()
        (options.width, options.gainMap) = (40, .keep)
        let result = try thumbnail(SharedBytes(file), options, .jpeg, limits: limits)
        let map = try #require(try ImageHeader.inspect(result.bytes).gainMap)
        let file = try #require(map.file(in: result.bytes))
        return (map.metadata, try ImageReading.decode(file).meanColor)
    }

    @Test func `a tone-mapped item has the numbers of its map`() throws {
        let file = tonedFile(writer(map: 130), Self.numbers)
        let map = try #require(try inspect(file).gainMap)
        #expect(map.location == .item(2) && map.header.size == PixelSize(width: 64, height: 48))
        #expect(map.samples == .logarithms)
        let result = try kept(file)
        #expect(result.metadata.fractions.map(\.value) == [0, 2.5, -0.25, 2.5, 1, 1.0 / 64, 1.0 / 64])
        #expect(result.mean.allSatisfy { abs($0 - 130) < 4 })
    }

    @Test func `Apple's amounts become logarithms up to the headroom of the camera's notes`() throws {
        let file = appleFile(writer(map: 128), notes(500, 200))
        #expect(try inspect(file).gainMap?.samples == .amounts)
        let result = try kept(file)
        #expect(result.metadata.alternateHeadroom.value == 1.5808)
        #expect(result.metadata.channels.map(\.maximum.value) == [1.5808])
        #expect(result.metadata.channels[0].baseOffset.value == 0)
        // 128 of 255 is 0.2614 in linear light; 1 + 1.991 · 0.2614 is 2 to the power of 0.6046, of 1.5808.
        #expect(result.mean.allSatisfy { abs($0 - 97.5) < 5 })
    }

    @Test(arguments: [
        (0.5, 0.005, 1.7), (0.5, 0.2, 1.5808), (1.2, 0.005, 2.65), (1.2, 0.2, 2.2424), (1, 20, nil), (.nan, .nan, nil),
    ])
    func `the headroom follows Apple's formula`(headroom: Double, gain: Double, stops: Double?) {
        let metadata = AppleHeadroom(headroom: headroom, gain: gain)?.metadata
        #expect(metadata?.alternateHeadroom.value == stops)
    }

    @Test func `damaged or unsuitable data drops the map, not the image`() throws {
        let files = [
            appleFile(writer(map: 9), Array(notes(500, 200).prefix(60))),
            appleFile(writer(map: 9), notes(1_000, 20_000)),
            appleFile(writer(map: 9, size: PixelSize(width: 48, height: 64)), notes(500, 200)),
            tonedFile(writer(map: 9), Array(Self.numbers.dropLast())),
            tonedFile(writer(map: 9), [1] + Self.numbers.dropFirst()),
        ]
        for file in files {
            let header = try inspect(file)
            #expect(header.gainMap == nil && header.colors.hdrFormat == .gainMap)
        }
    }

    @Test(arguments: [(0xFFFF_FFFF, 0x7FFF_FFFF), (0xFFFF_FFFF, 1), (0x4000_0000, 0x3000_0000)])
    func `impossible sides do not trap`(width: Int, height: Int) throws {
        var writer = writer(map: 9)
        for index in writer.items.indices {
            let others = writer.items[index].properties.filter { $0[4..<8] != ArraySlice("ispe".utf8) }
            let size = index == 0 ? HEIFBox.size(width, height) : HEIFBox.size(height, 0xFFFF_FFFF)
            writer.items[index].properties = [size] + others
        }
        let header = try? inspect(tonedFile(writer, Self.numbers))
        #expect(header?.gainMap == nil)
    }

    @Test func `metadata with an impossible headroom is rejected`() {
        var numbers = [1] + [(0, 1), (60, 1), (0, 1), (1, 1), (1, 1), (0, 1), (0, 1)].flatMap { [$0.0, $0.1] }
        #expect(GainMapMetadata(numbers: numbers) != nil)
        numbers[3] = 1_024
        #expect(GainMapMetadata(numbers: numbers) == nil)
    }
}
