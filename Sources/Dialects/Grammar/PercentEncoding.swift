import Text

/// Percent-encoding of query values (RFC 3986 section 2.1); a plus does not stand for a space.
package enum PercentEncoding {
    /// Decodes once; returns nil for an incomplete escape, a byte that must be escaped in a target, or text that is not
    /// UTF-8.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let decoded = URLEscape.decode(bytes) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes an already decoded text, which may contain any byte; a text with broken escapes is returned unchanged.
    ///
    /// Returns nil for text that is not UTF-8.
    static func decodeAgain(_ bytes: ArraySlice<UInt8>) -> String? {
        String(validating: URLEscape.decode(bytes) ?? Array(bytes), as: UTF8.self)
    }

    /// Decodes those escapes in a URL's path that are equivalent to the characters themselves.
    static func plain(_ path: some StringProtocol) -> String {
        URLEscape.decode(path) { byte in
            byte >= 0x20 && byte != 0x7f && !URLEscape.reserved.contains(byte) && !"/\\".utf8.contains(byte)
        }
    }

    /// Escapes the escapes of `%`, `?` and `#`, so that decoding keeps them.
    static func keepingMarks(_ text: some StringProtocol) -> String {
        var kept: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            kept.append(byte)
            let next = String(decoding: rest.prefix(2), as: UTF8.self).asciiLowercased
            if byte == UInt8(ascii: "%"), ["25", "3f", "23"].contains(next) { kept += "25".utf8 }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// Encodes everything but the unreserved characters of RFC 3986 section 2.3.
    package static func encode(_ text: String) -> String { URLEscape.encode(text.utf8) }

    /// Encodes characters that a field with a URL must not contain: all except visible ASCII, and quotes and brackets.
    package static func location(_ url: String) -> String {
        URLEscape.encode(url.utf8) { $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}".utf8.contains($0) }
    }
}
