import Memory

/// Keeps from the JPEG decoder a mass of metadata, and a last segment that is cut short.
///
/// libjpeg walks a list of all segments it has kept before it appends the next: 64 MiB of empty ones made it work for more
/// than a minute. The usual amount stays, because it costs less than a copy of the file.
enum JPEGTrimming {
    /// Most metadata that is handed on, in segments and in bytes.
    private static let usual = (segments: 64, bytes: 256 << 10)
    /// Longest profile that is handed on, in bytes; and its most parts, which are numbered by one byte.
    private static let longestProfile = (bytes: 4 << 20, parts: 255)

    /// The file without its metadata, where it is of an unusual amount, and without an enormous profile or half a segment.
    static func trim(_ file: SharedBytes, header: ImageHeader) -> SharedBytes {
        var dropped = (segments: 0, bytes: 0)
        var isCut = false
        file.withBytes { bytes in
            forEachUnneededSegment(of: bytes, header) { segment in
                dropped = (dropped.segments + 1, dropped.bytes + segment.count)
                isCut = segment.upperBound > bytes.byteCount
            }
        }
        guard isCut || dropped.segments > usual.segments || dropped.bytes > usual.bytes else { return file }
        return file.keeping { bytes, keep in
            var start = 0
            forEachUnneededSegment(of: bytes, header) { segment in
                if start < segment.lowerBound { keep(start..<segment.lowerBound) }
                start = segment.upperBound
            }
            if start < bytes.byteCount { keep(start..<bytes.byteCount) }
        }
    }

    /// Walks the same way as the header's inspection, which has refused a file where that leads nowhere.
    ///
    /// A segment that is cut short is the last, and ends behind the file.
    private static func forEachUnneededSegment(
        of file: RawSpan, _ header: ImageHeader, _ body: (Range<Int>) -> Void
    ) {
        var profileParts = 0
        var hasAdobe = false
        var offset = 2
        while let (marker, next) = file.jpegMarker(from: offset), marker != 0xD9 {
            guard let end = file.jpegSegmentEnd(at: next) else { return body(next - 2..<file.byteCount + 1) }
            let isNeeded: Bool
            switch marker {
            case 0xE2 where file.hasText("ICC_PROFILE\0", at: next + 2):
                profileParts += 1
                isNeeded = header.profileByteCount <= longestProfile.bytes && profileParts <= longestProfile.parts
            case 0xEE where file.hasText("Adobe", at: next + 2):
                // Says how colours are stored.
                isNeeded = !hasAdobe
                hasAdobe = true
            case 0xE1...0xEF, 0xFE: isNeeded = false
            case 0xDA where !header.isProgressive && (try? file.byte(at: next + 2)) == header.bands: return
            default: isNeeded = true
            }
            // What stands between it and the next marker goes too: what is left must begin like a JPEG.
            if !isNeeded { body(next - 2..<(file.jpegMarker(from: end).map { $0.next - 2 } ?? end)) }
            offset = end
        }
    }
}
