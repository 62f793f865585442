import Memory
import Recipes

enum JPEGGainMapWriter {
    /// Appends a gain map by Ultra HDR 1.1 and ISO 21496-1, with an index (CIPA DC-007) and a directory in XMP.
    ///
    /// - Parameter rights: The rights to write into the image's packet, the only one in the file.
    static func joined(_ file: SharedBytes, with map: EncodedGainMap, rights: SourceRights?) -> SharedBytes {
        let mapFile = JPEGSegments.inserting(
            xmp(map.metadata.description(of: .map)) + iso(map.metadata.isoBytes), into: map.file)
        let leading =
            xmp(map.metadata.description(of: .image(mapByteCount: mapFile.count)), rights: rights)
            + iso([0, 0, 0, 0])
        let start = file.withBytes { JPEGSegments.start($0) } ?? 2
        let segments = { (index: [UInt8]) in leading + JPEGSegments.segment(0xE2, contents: Array("MPF\0".utf8) + index)
        }
        let count = file.count + segments(MPFIndex.bytes(of: [])).count
        // Offsets are relative to the start of the index, which is the last segment.
        let indexOffset = start + segments([]).count
        let index = MPFIndex.bytes(of: [(count, 0), (mapFile.count, count - indexOffset)])
        let image = JPEGSegments.inserting(segments(index), into: file)
        return image.replacing(image.count..<image.count, with: mapFile)
    }

    private static func xmp(_ description: String, rights: SourceRights? = nil) -> [UInt8] {
        let map =
            "<rdf:Description rdf:about=\"\" xmlns:hdrgm=\"\(GainMapMetadata.space)\" hdrgm:Version=\"1.0\""
            + "\(description)</rdf:Description>"
        return JPEGSegments.packet(XMPPacket.file([map] + (rights.map { [XMPRights.description(of: $0)] } ?? [])))
    }

    private static func iso(_ contents: [UInt8]) -> [UInt8] {
        JPEGSegments.segment(0xE2, contents: Array(GainMapMetadata.segment.utf8) + contents)
    }
}

enum MPFIndex {
    static let version = 0xB000
    static let count = 0xB001
    static let entries = 0xB002
    static let entryLength = 16

    /// Returns the segment with the index; its length is constant for two images.
    ///
    /// The first image contains the index; offsets are relative to the index.
    fileprivate static func bytes(of images: [(byteCount: Int, offset: Int)]) -> [UInt8] {
        func number(_ value: Int, _ count: Int = 4) -> [UInt8] { value.bigEndianBytes(count) }
        let undefined = number(7, 2)
        let header = Array("MM\0*".utf8) + number(8)
        let directory =
            number(3, 2)
            + number(version, 2) + undefined + number(4) + Array("0100".utf8)
            + number(count, 2) + number(4, 2) + number(1) + number(2)
            + number(entries, 2) + undefined + number(2 * entryLength) + number(50)
            + number(0)
        var bytes = header + directory
        for (index, image) in images.enumerated() {
            // The type of the image that programs show if they do not support others.
            bytes += number(index == 0 ? 0x03_0000 : 0) + number(image.byteCount) + number(image.offset) + number(0)
        }
        return bytes + [UInt8](repeating: 0, count: (2 - images.count) * entryLength)
    }
}

extension GainMapMetadata {
    fileprivate enum DescribedFile {
        case map
        case image(mapByteCount: Int)
    }

    fileprivate func description(of file: DescribedFile) -> String {
        switch file {
        case .image(let count):
            let item = { (attributes: String) in
                "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Mime=\"image/jpeg\" \(attributes)/></rdf:li>"
            }
            return " xmlns:Container=\"\(XMPPacket.container)\" xmlns:Item=\"\(XMPPacket.containerItem)\">"
                + "<Container:Directory><rdf:Seq>" + item("Item:Semantic=\"Primary\"")
                + item("Item:Semantic=\"GainMap\" Item:Length=\"\(count)\"") + "</rdf:Seq></Container:Directory>"
        case .map:
            let lists: [(String, KeyPath<Channel, Fraction>)] = [
                ("GainMapMin", \.minimum), ("GainMapMax", \.maximum), ("Gamma", \.gamma), ("OffsetSDR", \.baseOffset),
                ("OffsetHDR", \.alternateOffset),
            ]
            let single: [(String, String)] =
                [
                    ("HDRCapacityMin", baseHeadroom.decimal), ("HDRCapacityMax", alternateHeadroom.decimal),
                    ("BaseRenditionIsHDR", "False"),
                ] + (channels.count > 1 ? [] : lists.map { ($0, channels[0][keyPath: $1].decimal) })
            let elements = (channels.count == 1 ? [] : lists).map { name, path -> String in
                let values = channels.map { "<rdf:li>\($0[keyPath: path].decimal)</rdf:li>" }.joined()
                return "<hdrgm:\(name)><rdf:Seq>\(values)</rdf:Seq></hdrgm:\(name)>"
            }
            return single.map { " hdrgm:\($0)=\"\($1)\"" }.joined() + ">" + elements.joined()
        }
    }

    fileprivate var isoBytes: [UInt8] {
        let flags = (channels.count > 1 ? Self.hasThreeChannels : 0) | (usesBaseColors ? Self.hasBaseColors : 0)
        return [0, 0, 0, 0, UInt8(flags)]
            + fractions.flatMap { $0.numerator.bigEndianBytes(4) + $0.denominator.bigEndianBytes(4) }
    }
}

extension GainMapMetadata.Fraction {
    fileprivate var decimal: String { "\(value)" }
}
