package import Memory
package import Recipes

/// Writes JPEG files with a gain map, as phones and programs do.
package struct UltraHDRWriter {
    /// A declaration of the gain map and of the meaning of its samples.
    package enum Form: CaseIterable, Sendable {
        /// by `hdrgm` in XMP
        case xmp
        /// by the segment of ISO 21496-1
        case standard
    }

    /// The record of the gain map's position in the file.
    package enum Place: CaseIterable, Sendable {
        /// by an MPF index
        case index
        /// by a container directory in XMP
        case container
    }

    package var image: [UInt8]
    package var map: [UInt8]
    package var forms = Set(Form.allCases)
    package var places = Set(Place.allCases)
    /// Logarithms of the minimum and maximum gain in sixteenths: one pair, or one per color.
    package var gains = [(least: 0, most: 48)]
    /// Gamma of the gain map in sixteenths.
    package var gamma = 16
    /// Offsets of both images in 64ths.
    package var offsets = (image: 1, bright: 2)
    /// Logarithm of the HDR headroom in sixteenths.
    package var headroom = 48
    /// Number of images in the index before the map; they lie inside the first image.
    package var nested = 0
    /// Data after the gain map.
    package var trailer: [UInt8] = []

    package init(_ image: SampleImage, map: SampleImage, orientation: Int = 1) {
        let file = ImageFixture.file(image, as: .jpeg, quality: 95)
        self.image = orientation == 1 ? file : JPEGWriter.oriented(file, orientation)
        self.map = ImageFixture.file(map, as: .jpeg, quality: 95)
    }

    /// A scene whose right side is up to eight times brighter than white, with a gain map `scale` times smaller.
    package static func scene(_ size: PixelSize, scale: Int = 4, isColor: Bool = false) -> UltraHDRWriter {
        let mapSize = PixelSize(width: size.width / scale, height: size.height / scale)
        let image = SampleImage(size, bands: 3) { x, y in
            let wave = 30 * (x / 40 % 2 + y / 30 % 2)
            return [x * 190 / size.width + wave, 190 - y * 100 / size.height + wave / 2, 90 + wave].map(UInt8.init)
        }
        let map = SampleImage(mapSize, bands: isColor ? 3 : 1) { x, y in
            let value = x * 255 / mapSize.width * (mapSize.height + y) / (2 * mapSize.height)
            return isColor ? [value, value * 3 / 4, value / 2].map(UInt8.init) : [UInt8(value)]
        }
        return UltraHDRWriter(image, map: map)
    }

    package var file: [UInt8] {
        let mapFile = Self.inserting(
            (forms.contains(.xmp) ? xmp(values + ">" + sequences) : [])
                + (forms.contains(.standard) ? standard(numbers) : []),
            into: map)
        let directory =
            places.contains(.container)
            ? " xmlns:C='\(Self.container)' xmlns:I='\(Self.container)item/'><C:Directory><rdf:Seq><rdf:li><C:Item I:Semantic='Primary' "
                + "I:Mime='image/jpeg'/></rdf:li><rdf:li><C:Item I:Length='\(mapFile.count)' I:Semantic='GainMap'/></rdf:li>"
                + (trailer.isEmpty
                    ? "" : "<rdf:li><C:Item I:Semantic='MotionPhoto' I:Length='\(trailer.count)'/></rdf:li>")
                + "</rdf:Seq></C:Directory>" : ">"
        let leading =
            (forms.contains(.xmp) || places.contains(.container) ? xmp(directory) : [])
            + (forms.contains(.standard) ? standard([0, 0, 0, 0]) : [])
        guard places.contains(.index) else { return Self.inserting(leading, into: image) + mapFile + trailer }
        let count = image.count + leading.count + 2 + 2 + 4 + 82 + 16 * nested
        // Offsets in the index are relative to its start: after earlier segments and its own marker, length and name.
        let others = [(Int, Int)](repeating: (count / 2, 1), count: nested)
        let index = Self.index([(count, 0)] + others + [(mapFile.count, count - 2 - leading.count - 8)])
        return Self.inserting(leading + Self.segment(0xE2, Array("MPF\0".utf8) + index), into: image) + mapFile
            + trailer
    }

    package var bytes: SharedBytes { SharedBytes(file) }

    private static let container = "http://ns.google.com/photos/1.0/container/"

    private func xmp(_ description: String) -> [UInt8] {
        Self.segment(
            0xE1,
            Array(
                ("http://ns.adobe.com/xap/1.0/\0<?xpacket begin=''?><!-- c --><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
                    + "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description "
                    + "xmlns:gain='http://ns.adobe.com/hdr-gain-map/1.0/' gain:Version='1.0'\(description)"
                    + "</rdf:Description></rdf:RDF></x:xmpmeta>").utf8))
    }

    private func decimal(_ sixteenths: Int) -> String { "\(Double(sixteenths) / 16)" }

    private var values: String {
        let shared =
            " gain:Gamma='\(decimal(gamma))' gain:OffsetSDR='\(Double(offsets.image) / 64)'"
            + " gain:OffsetHDR='\(Double(offsets.bright) / 64)' gain:HDRCapacityMin='0' gain:HDRCapacityMax='\(decimal(headroom))'"
        return gains.count > 1
            ? shared
            : shared + " gain:GainMapMin='\(decimal(gains[0].least))' gain:GainMapMax=\"\(decimal(gains[0].most))\""
    }

    private var sequences: String {
        guard gains.count > 1 else { return "" }
        func sequence(_ name: String, _ values: [Int]) -> String {
            "<gain:\(name)>\n <rdf:Seq>" + values.map { "<rdf:li>\(decimal($0))</rdf:li> " }.joined()
                + "</rdf:Seq></gain:\(name)>"
        }
        return sequence("GainMapMin", gains.map(\.least)) + sequence("GainMapMax", gains.map(\.most))
    }

    private func standard(_ contents: [UInt8]) -> [UInt8] {
        Self.segment(0xE2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + contents)
    }

    private var numbers: [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0, gains.count > 1 ? 0xC0 : 0x40]
        for (numerator, denominator) in [(0, 1), (headroom, 16)] {
            bytes += numerator.bigEndian32 + denominator.bigEndian32
        }
        for gain in gains {
            for (numerator, denominator) in [
                (gain.least, 16), (gain.most, 16), (gamma, 16), (offsets.image, 64), (offsets.bright, 64),
            ] {
                bytes += numerator.bigEndian32 + denominator.bigEndian32
            }
        }
        return bytes
    }

    private static func index(_ images: [(count: Int, offset: Int)]) -> [UInt8] {
        let header = Array("MM\0*".utf8) + 8.bigEndian32 + 3.bigEndian16
        let version = 0xB000.bigEndian16 + 7.bigEndian16 + 4.bigEndian32 + Array("0100".utf8)
        let number = 0xB001.bigEndian16 + 4.bigEndian16 + 1.bigEndian32 + images.count.bigEndian32
        let entries = 0xB002.bigEndian16 + 7.bigEndian16 + (16 * images.count).bigEndian32 + 50.bigEndian32
        return header + version + number + entries + 0.bigEndian32
            + images.flatMap { 0.bigEndian32 + $0.count.bigEndian32 + $0.offset.bigEndian32 + 0.bigEndian32 }
    }

    private static func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + (contents.count + 2).bigEndian16 + contents
    }

    private static func inserting(_ segments: [UInt8], into file: [UInt8]) -> [UInt8] {
        file[..<2] + segments + file[2...]
    }
}

extension UltraHDRWriter {
    /// A file like those of Apple's cameras: the map is located only by the MPF index and uses Apple's XMP namespace.
    ///
    /// - Parameters:
    ///   - headroom: The headroom in the map, as newer cameras write it; nil for none.
    ///   - notes: The image's EXIF data; nil for none.
    package static func apple(
        _ image: SampleImage, map: SampleImage, headroom: String? = nil, notes: [UInt8]? = nil
    ) -> UltraHDRWriter {
        var writer = UltraHDRWriter(image, map: map)
        (writer.forms, writer.places) = ([], [.index])
        let properties =
            ["Version": "\(headroom == nil ? 65_536 : 131_072)", "Headroom": headroom]
            .compactMapValues(\.self).sorted { $0.key > $1.key }
            .map { "<HDRGainMap:HDRGainMap\($0)>\($1)</HDRGainMap:HDRGainMap\($0)>" }
        let packet =
            "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf="
            + "\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" xmlns:HDRGainMap="
            + "\"http://ns.apple.com/HDRGainMap/1.0/\">" + properties.joined()
            + "</rdf:Description></rdf:RDF></x:xmpmeta>"
        writer.map = inserting(segment(0xE1, Array(packet.utf8)), into: writer.map)
        if let notes { writer.image = inserting(segment(0xE1, notes), into: writer.image) }
        return writer
    }

    /// EXIF data with Apple's maker note: two numbers in thousandths.
    package static func appleNotes(_ headroom: Int, _ gain: Int) -> [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            tag.bigEndian16 + type.bigEndian16 + count.bigEndian32 + value.bigEndian32
        }
        let notes =
            Array("Apple iOS\0\0\u{1}MM".utf8) + 2.bigEndian16 + entry(0x21, 10, 1, 44) + entry(0x30, 10, 1, 52)
            + [0, 0, 0, 0] + headroom.bigEndian32 + 1_000.bigEndian32 + gain.bigEndian32 + 1_000.bigEndian32
        return Array("Exif\0\0MM\0*".utf8) + 8.bigEndian32 + 1.bigEndian16 + entry(0x8769, 4, 1, 26) + 0.bigEndian32
            + 1.bigEndian16 + entry(0x927C, 7, notes.count, 44) + 0.bigEndian32 + notes
    }
}
