import Recipes

/// Where a file has metadata that results may keep.
struct MetadataParts {
    /// The first one takes precedence.
    var packets: [XMPPacket] = []
    /// IPTC records (IIM 4.2).
    var records: Range<Int>?
    /// A C2PA manifest.
    var hasManifest = false

    /// Of a packet in bytes; the rest of a longer one is ignored.
    static let longestPacket = 1 << 20
    /// A usual file has one.
    private static let maximumPackets = 4

    /// Parses only packets with the names of fields, because most have none.
    mutating func addPacket(_ bytes: RawSpan, _ range: Range<Int>) {
        let range = range.prefix(Self.longestPacket).clamped(to: 0..<bytes.byteCount)
        guard packets.count < Self.maximumPackets, XMPRights.mayBe(in: bytes, range) else { return }
        packets.append(XMPPacket(bytes, range))
    }

    /// - Parameter box: The start of a JUMBF box, whose description names its kind.
    mutating func readManifest(_ bytes: RawSpan, _ box: Range<Int>) {
        hasManifest = hasManifest || bytes.contains("c2pa", in: box.prefix(64).clamped(to: 0..<bytes.byteCount))
    }
}

extension SourceRights {
    /// Nil if the file has none of it.
    ///
    /// XMP takes precedence over IPTC records, and these over EXIF.
    init?(_ bytes: RawSpan, of parts: MetadataParts, exif: Attribution?) {
        self.init()
        hasManifest = parts.hasManifest
        for packet in parts.packets { XMPRights.add(packet, to: &self) }
        if let records = parts.records { IPTCRecords.add(bytes, records, to: &self) }
        if let exif {
            add(.creator, exif.artist.pieces)
            add(.copyright, exif.copyright.pieces)
        }
        guard !isEmpty else { return nil }
        limit()
    }

    /// For `Artist` and `Copyright` of EXIF; nil without either.
    var attribution: Attribution? {
        Attribution(artist: Array((self[.creator] ?? "").utf8), copyright: Array((self[.copyright] ?? "").utf8))
    }
}

extension [UInt8] {
    /// Zeros separate the names of several people.
    fileprivate var pieces: [UInt8] { Array(split(separator: 0).joined(separator: Array(", ".utf8))) }
}

/// Datasets of the application record (IIM 4.2 chapter 6).
enum IPTCRecords {
    private static let fields: [Int: SourceRights.Field] = [80: .creator, 110: .credit, 116: .copyright]
    private static let maximumDatasets = 1_000

    static func add(_ bytes: RawSpan, _ range: Range<Int>, to rights: inout SourceRights) {
        var texts: [SourceRights.Field: [[UInt8]]] = [:]
        var offset = range.lowerBound
        for _ in 0..<maximumDatasets {
            guard offset + 5 <= range.upperBound, (try? bytes.byte(at: offset)) == 0x1C,
                let record = try? bytes.byte(at: offset + 1), let number = try? bytes.byte(at: offset + 2),
                let count = try? bytes.bigEndian16(at: offset + 3), count < 0x8000,
                offset + 5 + count <= range.upperBound
            else { break }
            if record == 2, let field = fields[number], texts[field, default: []].count < 16 {
                texts[field, default: []].append(bytes.array(offset + 5..<offset + 5 + count))
            }
            offset += 5 + count
        }
        for (field, texts) in texts { rights.add(field, Array(texts.joined(separator: Array(", ".utf8)))) }
    }

    /// In Photoshop's image resources.
    static func place(inResources bytes: RawSpan, _ range: Range<Int>) -> Range<Int>? {
        var offset = range.lowerBound
        for _ in 0..<maximumDatasets {
            guard bytes.hasText("8BIM", at: offset), let id = try? bytes.bigEndian16(at: offset + 4),
                let name = try? bytes.byte(at: offset + 6)
            else { return nil }
            // The name with its length, and the data, are padded to even lengths.
            let start = offset + 6 + (name + 2) / 2 * 2
            guard let count = try? bytes.bigEndian32(at: start), count <= range.upperBound - start - 4 else {
                return nil
            }
            if id == 0x0404 { return start + 4..<start + 4 + count }
            offset = start + 4 + (count + 1) / 2 * 2
        }
        return nil
    }
}

extension RawSpan {
    func array(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range.clamped(to: 0..<byteCount)).withUnsafeBytes { unsafe Array($0) }
    }
}
