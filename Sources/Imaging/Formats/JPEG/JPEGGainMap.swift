package import Memory
package import Recipes

struct JPEGGainMapSegments {
    /// The XMP packet; nil if it has no gain map properties.
    private(set) var packet: Range<Int>?
    /// ISO 21496-1 metadata.
    private(set) var iso: Range<Int>?
    private(set) var index: Range<Int>?
    private var packets = 0
    /// The maximum number of packets; one is usual.
    private static let maximumPackets = 8
    /// EXIF data, in which Apple's cameras record a headroom.
    var exif: Range<Int>?

    /// Whether the file declares a gain map; files of Apple's cameras have only an index.
    var isDeclared: Bool { packet != nil || iso != nil }

    mutating func read(_ bytes: RawSpan, marker: Int, at contents: Range<Int>) {
        if marker == 0xE1, packet == nil, packets < Self.maximumPackets,
            let found = bytes.rest(of: contents, after: JPEGSegments.packetName)
        {
            packets += 1
            if bytes.contains("http://ns.adobe.com/hdr-gain-map/1.0/", in: found)
                || bytes.contains("http://ns.apple.com/HDRGainMap/1.0/", in: found)
            {
                packet = found
            }
        } else if marker == 0xE2 {
            if iso == nil { iso = bytes.rest(of: contents, after: "urn:iso:std:iso:ts:21496:-1\0") }
            if index == nil { index = bytes.rest(of: contents, after: "MPF\0") }
        }
    }
}

extension GainMap {
    private static let maximumImages = 8

    /// Reads the gain map; damage affects only the map.
    static func jpeg(
        _ bytes: RawSpan, segments: JPEGGainMapSegments, orientation: QuarterTurn, countsScans: Bool
    ) -> GainMap? {
        guard segments.isDeclared || segments.index != nil else { return nil }
        let packet = segments.packet.map { XMPPacket(bytes, at: $0) }
        let ranges =
            (segments.index.map { images(bytes, of: $0) } ?? [])
            + [packet?.range(in: bytes.byteCount)].compactMap(\.self)
        // Bound the total length: overlapping images would be read repeatedly.
        var rest = bytes.byteCount
        for range in ranges where range.lowerBound > 0 && range.upperBound <= bytes.byteCount && range.count > 4 {
            rest -= range.count
            guard rest >= 0 else { return nil }
            let file = bytes.extracting(range)
            guard file.hasBytes([0xFF, 0xD8], at: 0),
                let walk = try? JPEGHeader(file, countsScans: countsScans), let header = try? walk.header,
                header.bands != 4
            else { continue }
            let shown = header.ofGainMap(turned: orientation)
            if let metadata = walk.gainMapSegments.metadata(file) {
                return GainMap(.file(range), header: shown, metadata: metadata)
            }
            if let metadata = walk.gainMapSegments.appleMetadata(file, of: bytes, exif: segments.exif) {
                return GainMap(.file(range), header: shown, metadata: metadata, samples: .amounts)
            }
        }
        return nil
    }

    private static func images(_ bytes: RawSpan, of index: Range<Int>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        try? EXIFDirectory.read(bytes, in: index) { (entry, block) throws(ImagingError) in
            guard entry.tag == MPFIndex.entries else { return true }
            for image in 1..<max(2, min(entry.count / MPFIndex.entryLength, maximumImages)) {
                let size = try entry.long(in: block, at: image * MPFIndex.entryLength + 4)
                let offset = try entry.long(in: block, at: image * MPFIndex.entryLength + 8)
                if offset > 0 { ranges.append(index.lowerBound + offset..<index.lowerBound + offset + size) }
            }
            return false
        }
        return ranges
    }
}

extension JPEGGainMapSegments {
    /// Returns the metadata; ISO 21496-1 takes precedence over XMP, whose numbers are rounded.
    fileprivate func metadata(_ file: RawSpan) -> GainMapMetadata? {
        iso.flatMap { GainMapMetadata(file, iso: $0) }
            ?? packet.flatMap { GainMapMetadata(XMPPacket(file, at: $0)) }
    }

    /// Reads metadata in Apple's namespace; the headroom is there or in the image's maker note.
    fileprivate func appleMetadata(_ file: RawSpan, of image: RawSpan, exif: Range<Int>?) -> GainMapMetadata? {
        guard let packet = packet.map({ XMPPacket(file, at: $0) }),
            !packet.values("HDRGainMapVersion", of: AppleHeadroom.space).isEmpty
        else { return nil }
        let declared = packet.values("HDRGainMapHeadroom", of: AppleHeadroom.space).first
        let headroom =
            declared.map { AppleHeadroom(decimal: $0) } ?? exif.flatMap { AppleHeadroom(exif: image, range: $0) }
        return headroom?.metadata
    }
}

extension XMPPacket {
    /// The XMP namespace of the directory of files that follow the image.
    static let container = "http://ns.google.com/photos/1.0/container/"
    static let containerItem = "http://ns.google.com/photos/1.0/container/item/"

    /// Returns the range of the map in a file that ends with the files listed in the directory.
    fileprivate func range(in byteCount: Int) -> Range<Int>? {
        guard let prefix = prefix(of: Self.containerItem) else { return nil }
        let semantic = prefix + Array("Semantic".utf8)
        let length = prefix + Array("Length".utf8)
        var items: [(element: Int, isMap: Bool, length: Int)] = []
        for property in properties where property.name.starts(with: prefix) {
            if items.last?.element != property.element { items.append((property.element, false, 0)) }
            let last = items.count - 1
            if property.name == semantic { items[last].isMap = property.value.elementsEqual("GainMap".utf8) }
            if property.name == length {
                items[last].length = Int(String(decoding: property.value, as: UTF8.self)) ?? 0
            }
        }
        // The first item is the image itself.
        guard let map = items.firstIndex(where: \.isMap), map > 0, items.allSatisfy({ 0...byteCount ~= $0.length })
        else { return nil }
        let start = byteCount - items[map...].reduce(0) { $0 + $1.length }
        return start > 0 ? start..<start + items[map].length : nil
    }
}

extension ImageHeader {
    func ofGainMap(turned orientation: QuarterTurn) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: storedSize, work: DecoderWork(area: work.area), orientation: orientation,
            bands: bands, bitDepth: bitDepth, isProgressive: isProgressive, isChromaSubsampled: isChromaSubsampled)
    }
}

extension GainMap {
    /// Returns the map as a separate file; nil if the image's file is too short.
    ///
    /// Removes color profile and orientation of the map, which must be ignored.
    package func file(in source: SharedBytes) -> SharedBytes? {
        switch location {
        case .file(let range):
            guard range.lowerBound >= 0, range.upperBound <= source.count else { return nil }
            let file = JPEGSegments.stripped(SharedBytes(range, of: source))
            guard header.orientation != .none else { return file }
            return JPEGSegments.inserting(JPEGSegments.exif(Self.exif(header.orientation)), into: file)
        case .item(let item):
            guard let range = source.withBytes({ $0.rangeOfPrimaryItem }) else { return nil }
            return source.replacing(range, with: SharedBytes(item.bigEndianBytes(range.count)))
        }
    }

    private static func exif(_ orientation: QuarterTurn) -> [UInt8] {
        Array("MM\0*".utf8) + [
            0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.exif), 0, 0, 0, 0, 0, 0,
        ]
    }
}

extension RawSpan {
    fileprivate var rangeOfPrimaryItem: Range<Int>? {
        var boxes = BoxCursor(0..<byteCount)
        guard let meta = try? boxes.next(of: BoxCursor.type("meta"), in: self)?.contents else { return nil }
        var inner = BoxCursor(meta.dropFirst(4))
        guard let primary = try? inner.next(of: BoxCursor.type("pitm"), in: self)?.contents,
            let version = try? byte(at: primary.lowerBound)
        else { return nil }
        let range = primary.lowerBound + 4..<primary.lowerBound + 4 + (version == 0 ? 2 : 4)
        return range.upperBound <= primary.upperBound ? range : nil
    }
}
