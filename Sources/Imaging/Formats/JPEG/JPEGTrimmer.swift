import Memory
import Recipes

/// Removes excessive metadata and a truncated last segment.
///
/// libjpeg walks its list of saved segments to append one: 64 MiB of empty segments took more than a minute. A usual
/// amount is kept, because that costs less than a copy of the file.
enum JPEGTrimmer {
    private static let typical = (segments: 64, bytes: 256 << 10)
    /// Limits of a profile; parts are numbered by one byte.
    private static let maximumProfileSize = (bytes: 4 << 20, parts: 255)

    static func trim(_ file: SharedBytes, header: ImageHeader) -> SharedBytes {
        var dropped = (segments: 0, bytes: 0)
        var isTruncated = false
        file.withBytes { bytes in
            forEachUnneededSegment(of: bytes, header: header) { segment in
                dropped = (dropped.segments + 1, dropped.bytes + segment.count)
                isTruncated = segment.upperBound > bytes.byteCount
            }
        }
        guard isTruncated || dropped.segments > typical.segments || dropped.bytes > typical.bytes else { return file }
        return file.removing { forEachUnneededSegment(of: $0, header: header, $1) }
    }

    /// Calls `body` with the ranges to remove; the range of a truncated segment ends after the file.
    ///
    /// The header parser has already rejected files without a frame or scan.
    private static func forEachUnneededSegment(of file: RawSpan, header: ImageHeader, _ body: (Range<Int>) -> Void) {
        var profileParts = 0
        var hasAdobe = false
        var offset = 2
        while let (marker, next) = file.jpegMarker(from: offset), marker != 0xD9 {
            guard let end = file.jpegSegmentEnd(at: next) else { return body(next - 2..<file.byteCount + 1) }
            let isNeeded: Bool
            switch marker {
            case 0xE2 where file.hasText("ICC_PROFILE\0", at: next + 2):
                profileParts += 1
                isNeeded =
                    header.profileByteCount <= maximumProfileSize.bytes && profileParts <= maximumProfileSize.parts
            case 0xEE where file.hasText("Adobe", at: next + 2):
                // Adobe's segment declares the color transform.
                isNeeded = !hasAdobe
                hasAdobe = true
            case 0xE1...0xEF, 0xFE: isNeeded = false
            case 0xDA where !header.isProgressive && (try? file.byte(at: next + 2)) == header.bands: return
            default: isNeeded = true
            }
            // Also remove bytes between the segment and the next marker.
            if !isNeeded { body(next - 2..<(file.jpegMarker(from: end).map { $0.next - 2 } ?? end)) }
            offset = end
        }
    }
}
