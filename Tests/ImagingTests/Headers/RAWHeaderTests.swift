import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// RAW photographs: the largest preview, and facts about the photograph.
@Suite(.timeLimit(.minutes(1)))
struct RAWHeaderTests {
    private static let large = JPEGWriter(width: 640, height: 480, components: 3).file { _, _ in [90, 128, 128] }
    private static let small = JPEGWriter(width: 160, height: 120, components: 3).file { _, _ in [90, 128, 128] }
    private static let middle = JPEGWriter(width: 400, height: 300, components: 1).file { _, _ in [90] }

    @Test(arguments: RAWWriter.Kind.allCases, [true, false])
    func `the size is the preview's, and the sensor has its own`(kind: RAWWriter.Kind, isLittleEndian: Bool) throws {
        var writer = RAWWriter(kind, Self.large)
        writer.isLittleEndian = isLittleEndian
        writer.sensor = PixelSize(width: 6_048, height: 4_024)
        let header = try inspect(writer.file)
        #expect(header.format == .raw && header.storedSize == PixelSize(width: 640, height: 480) && header.bands == 3)
        #expect(header.preview?.sensor == writer.sensor && header.isPlausible)
        let place = try #require(header.preview?.range)
        #expect(Array(writer.file[place]) == Self.large)
    }

    @Test(arguments: RAWWriter.Kind.allCases.filter { ![.raf, .rw2, .orf].contains($0) })
    func `the largest preview counts by its pixels`(kind: RAWWriter.Kind) throws {
        // A comment makes the small preview the longest one.
        let long =
            Self.small.prefix(2) + JPEGSegments.segment(0xFE, contents: [UInt8](repeating: 1, count: 60_000))
            + Self.small.dropFirst(2)
        for previews in [[Self.large, Array(long)], [Array(long), Self.large]] {
            var writer = RAWWriter(kind)
            writer.previews = previews
            #expect(try inspect(writer.file).storedSize == PixelSize(width: 640, height: 480))
        }
    }

    @Test(arguments: RAWWriter.Kind.allCases)
    func `a photograph without a preview of 320 pixels cannot be decoded`(kind: RAWWriter.Kind) throws {
        #expect(throws: ImagingError.unsupported("a RAW photograph without a preview of 320 pixels")) {
            try inspect(RAWWriter(kind, Self.small).file)
        }
        let narrow = JPEGWriter(width: 24, height: 320, components: 3).file { _, _ in [90, 128, 128] }
        #expect(try inspect(RAWWriter(kind, narrow).file).size.height == 320)
    }

    @Test(arguments: RAWWriter.Kind.allCases)
    func `the photograph's orientation counts, or else the preview's`(kind: RAWWriter.Kind) throws {
        let turned = Array(Self.large.prefix(2) + JPEGSegments.exif(exif(orientation: 3)) + Self.large.dropFirst(2))
        var writer = RAWWriter(kind, turned)
        writer.orientation = 6
        // In Fujifilm's photographs only the preview has an orientation.
        #expect(try inspect(writer.file).orientation.exif == (kind == .raf ? 3 : 6))
        writer.orientation = nil
        #expect(try inspect(writer.file).orientation.exif == 3)
    }

    @Test(arguments: [RAWWriter.Kind.nef, .dng, .pef, .srw, .arw, .nrw])
    func `a maker's name makes no TIFF file a photograph, but the sensor's samples do`(kind: RAWWriter.Kind) throws {
        var writer = RAWWriter(kind, Self.large)
        writer.make = ""
        let isRAW = (try? inspect(writer.file))?.format == .raw
        #expect(isRAW == (kind == .dng), "only a version of DNG counts alone")
        let page = TIFFWriter.Page(PixelSize(width: 20, height: 10)) { x, y in [x, y, 0] }
        let plain = TIFFWriter([page]).file
        #expect(try inspect(plain).format == .tiff)
        #expect(try inspect(Self.withMake(plain)).format == .tiff)
    }

    /// A little-endian TIFF file whose first entry, the width, is replaced by the maker's name.
    private static func withMake(_ file: [UInt8]) throws -> [UInt8] {
        var file = file
        let table = Int(file[4]) | Int(file[5]) << 8 | Int(file[6]) << 16
        let count = Int(file[table]) | Int(file[table + 1]) << 8
        let entries = file[table + 2..<table + 2 + 12 * count]
        let next = file[(table + 2 + 12 * count)...].prefix(4)
        let make = 0x10F.littleEndian16 + 2.littleEndian16 + 6.littleEndian32 + file.count.littleEndian32
        file += Array("NIKON\0".utf8)
        let start = file.count
        file += (count + 1).littleEndian16 + entries + make + next
        file.replaceSubrange(4..<8, with: start.littleEndian32)
        return file
    }

    @Test func `rights are those of the photograph`() throws {
        var writer = RAWWriter(.nef, Self.large)
        writer.packet = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:Credit="Desk"/>
            </rdf:RDF></x:xmpmeta>
            """.utf8)
        let header = try inspect(writer.file)
        #expect(header.rights?[.credit] == "Desk" && header.exif?.make == Array("NIKON CORPORATION".utf8))
        var other = RAWWriter(.cr3, Self.large)
        other.packet = writer.packet
        #expect(try inspect(other.file).rights?[.credit] == "Desk")
        other.packet = Array("no packet".utf8)
        #expect(try inspect(other.file).rights == nil)
    }

    @Test(arguments: RAWWriter.Kind.allCases)
    func `the color space of the photograph is the preview's`(kind: RAWWriter.Kind) throws {
        var writer = RAWWriter(kind, Self.large)
        #expect(try inspect(writer.file).colors.encoding == nil)
        writer.isAdobeRGB = true
        #expect(try inspect(writer.file).colors.space == (kind == .raf ? .srgb : .adobeRGB))
    }

    @Test(arguments: RAWWriter.Kind.allCases)
    func `truncated and corrupted files are harmless, and circles end`(kind: RAWWriter.Kind) throws {
        var writer = RAWWriter(kind)
        writer.previews = [Self.middle, Self.middle]
        let file = writer.file
        for index in file.indices.prefix(700) {
            for byte in [0, 1, 8, 0x7F, 0xFF] as [UInt8] {
                var changed = file
                changed[index] = byte
                guard let header = try? inspect(changed), header.format == .raw else { continue }
                #expect(header.isPlausible && header.preview?.range.upperBound ?? 0 <= changed.count)
            }
            _ = try? inspect(Array(file.prefix(index)))
        }
        // The first directory names itself as the next one and as its subdirectory.
        let circle =
            Array("II*\0".utf8) + 8.littleEndian32 + 2.littleEndian16 + 0x10F.littleEndian16 + 2.littleEndian16
            + 1.littleEndian32 + 0.littleEndian32 + 330.littleEndian16 + 4.littleEndian16 + 1.littleEndian32
            + 8.littleEndian32 + 8.littleEndian32
        #expect(isDamaged(circle))
    }
}
