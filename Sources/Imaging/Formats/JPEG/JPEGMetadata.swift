import Recipes

/// Metadata in the segments before the first scan.
enum JPEGMetadata {
    private static let extensionName: StaticString = "http://ns.adobe.com/xmp/extension/\0"
    private static let maximumPieces = 64

    /// A piece of an XMP packet that is too long for one segment (XMP part 3, section 1.1.3.1).
    private struct Piece {
        let digest: [UInt8]
        let offset: Int
        let range: Range<Int>
    }

    static func read(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        var pieces: [Piece] = []
        var offset = 2
        while let (marker, next) = bytes.jpegMarker(from: offset), marker != 0xDA, marker != 0xD9,
            let end = bytes.jpegSegmentEnd(at: next)
        {
            let contents = min(next + 2, end)..<end
            switch marker {
            case 0xE1:
                if let packet = bytes.rest(of: contents, after: JPEGSegments.packetName) {
                    metadata.addPacket(bytes, at: packet)
                } else if let piece = bytes.rest(of: contents, after: extensionName), piece.count > 40,
                    pieces.count < maximumPieces, let pieceOffset = try? bytes.bigEndian32(at: piece.lowerBound + 36)
                {
                    let digest = bytes.array(piece.prefix(32))
                    pieces.append(Piece(digest: digest, offset: pieceOffset, range: piece.dropFirst(40)))
                }
            case 0xED:
                if let resources = bytes.rest(of: contents, after: "Photoshop 3.0\0"), metadata.records == nil {
                    metadata.records = IPTCRecords.range(inResources: bytes, at: resources)
                }
            case 0xEB where bytes.hasText("JP", at: contents.lowerBound): metadata.readManifest(bytes, at: contents)
            default: break
            }
            offset = end
        }
        if let packet = extended(bytes, pieces: pieces, of: metadata) { metadata.packets.append(packet) }
        return metadata
    }

    /// Joins the extended packet, whose digest the main packet names.
    private static func extended(_ bytes: RawSpan, pieces: [Piece], of metadata: EmbeddedMetadata) -> XMPPacket? {
        let digest = metadata.packets.lazy.compactMap {
            $0.values("HasExtendedXMP", of: "http://ns.adobe.com/xmp/note/").first
        }.first
        guard let digest, !pieces.isEmpty else { return nil }
        var text: [UInt8] = []
        for piece in pieces.filter({ $0.digest == digest }).sorted(by: { $0.offset < $1.offset }) {
            guard piece.offset == text.count, text.count < EmbeddedMetadata.longestPacket else { break }
            text += bytes.array(piece.range)
        }
        return text.isEmpty ? nil : XMPPacket(text)
    }
}
