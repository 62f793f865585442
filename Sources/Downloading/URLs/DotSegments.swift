/// Detects dot segments of a path (RFC 3986 section 3.3), in the spellings that servers resolve.
///
/// Some servers decode `%2e`, `%2f` and `%5c` before they resolve a path, and treat a backslash as a slash. URL parsers
/// do not, so the origin could resolve a checked path to another one. Some servers also drop everything after a
/// semicolon in a segment: for them, `..;x` is the parent.
package enum DotSegments {
    /// Checks each segment up to its first semicolon, after decoding `%2e`, `%2f`, `%3b` and `%5c` once.
    package static func areIn(_ path: some StringProtocol) -> Bool {
        var length = 0
        var dots = 0
        var isInParameters = false
        var rest = Array(path.utf8)[...]
        while let byte = next(in: &rest) {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"):
                if (1...2).contains(dots), dots == length { return true }
                length = 0
                dots = 0
                isInParameters = false
            case UInt8(ascii: ";"): isInParameters = true
            case _ where isInParameters: break
            default:
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return (1...2).contains(dots) && dots == length
    }

    /// Removes and returns the next byte, or the dot or slash that an escape represents.
    private static func next(in bytes: inout ArraySlice<UInt8>) -> UInt8? {
        guard let byte = bytes.popFirst() else { return nil }
        guard byte == UInt8(ascii: "%"), bytes.count >= 2 else { return byte }
        let meaning: UInt8
        switch (bytes[bytes.startIndex], bytes[bytes.startIndex + 1] | 0x20) {
        case (UInt8(ascii: "2"), UInt8(ascii: "e")): meaning = UInt8(ascii: ".")
        case (UInt8(ascii: "2"), UInt8(ascii: "f")): meaning = UInt8(ascii: "/")
        case (UInt8(ascii: "3"), UInt8(ascii: "b")): meaning = UInt8(ascii: ";")
        case (UInt8(ascii: "5"), UInt8(ascii: "c")): meaning = UInt8(ascii: "\\")
        default: return byte
        }
        bytes = bytes.dropFirst(2)
        return meaning
    }
}
