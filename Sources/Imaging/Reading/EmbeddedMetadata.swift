import Recipes

/// The metadata of a file that results may keep.
struct EmbeddedMetadata {
    /// The XMP packets; the first takes precedence.
    var packets: [XMPPacket] = []
    /// IPTC records (IIM 4.2).
    var records: Range<Int>?
    /// Whether there is a C2PA manifest.
    var hasManifest = false

    /// Maximum bytes of a packet; the rest of a longer one is ignored.
    static let longestPacket = 1 << 20
    /// The maximum number of packets; one is usual.
    private static let maximumPackets = 4

    /// Parses a packet only if it contains the name of a field; most do not.
    mutating func addPacket(_ bytes: RawSpan, at range: Range<Int>) {
        let range = range.prefix(Self.longestPacket).clamped(to: 0..<bytes.byteCount)
        guard packets.count < Self.maximumPackets, XMPRights.mayBe(in: bytes, at: range) else { return }
        packets.append(XMPPacket(bytes, at: range))
    }

    /// - Parameter box: The start of a JUMBF box, whose description has its type.
    mutating func readManifest(_ bytes: RawSpan, at box: Range<Int>) {
        hasManifest = hasManifest || bytes.contains("c2pa", in: box.prefix(64).clamped(to: 0..<bytes.byteCount))
    }
}

extension SourceRights {
    /// Returns nil if the file has no rights metadata.
    ///
    /// XMP takes precedence over IPTC, and IPTC over EXIF.
    init?(_ bytes: RawSpan, of metadata: EmbeddedMetadata, exif: Attribution?) {
        self.init()
        hasManifest = metadata.hasManifest
        for packet in metadata.packets { XMPRights.add(packet, to: &self) }
        if let records = metadata.records { IPTCRecords.add(bytes, at: records, to: &self) }
        if let exif {
            add(.creator, text: exif.artist.pieces)
            add(.copyright, text: exif.copyright.pieces)
        }
        guard !isEmpty else { return nil }
        limit()
    }

    /// The values for EXIF `Artist` and `Copyright`; nil if both are missing.
    var attribution: Attribution? {
        Attribution(artist: Array((self[.creator] ?? "").utf8), copyright: Array((self[.copyright] ?? "").utf8))
    }
}

extension [UInt8] {
    /// Null bytes separate several names.
    fileprivate var pieces: [UInt8] { Array(split(separator: 0).joined(separator: Array(", ".utf8))) }
}
