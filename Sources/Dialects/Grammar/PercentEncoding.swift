import Text

/// Percent-encoding of query values (RFC 3986 section 2.1); a plus does not stand for a space.
package enum PercentEncoding {
    /// Decodes once; nil for an incomplete escape, a byte that must not stand unescaped in a target, or text that is
    /// not UTF-8.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let decoded = URLEscape.decode(bytes) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes a text that was decoded before: any byte may stand in it, and a text with broken escapes stands for
    /// itself.
    ///
    /// Nil for text that is not UTF-8.
    static func decodeAgain(_ bytes: ArraySlice<UInt8>) -> String? {
        String(validating: URLEscape.decode(bytes) ?? Array(bytes), as: UTF8.self)
    }

    /// The path of a URL with the characters themselves for those escapes that mean no more than they do.
    static func plain(_ path: some StringProtocol) -> String {
        URLEscape.decode(path) { byte in
            byte >= 0x20 && byte != 0x7f && !URLEscape.reserved.contains(byte) && !"/\\".utf8.contains(byte)
        }
    }

    /// The text with another escape before those of `%`, `?` and `#`, which therefore stay when it is decoded.
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

    /// Encodes what must not stand in a field that holds a URL: all but the visible characters of ASCII, and quotes and
    /// brackets.
    package static func location(_ url: String) -> String {
        URLEscape.encode(url.utf8) { $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}".utf8.contains($0) }
    }
}
