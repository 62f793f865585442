import Text

/// Percent-encoding of query values (RFC 3986 section 2.1); a plus does not stand for a space.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Decodes once; nil for an incomplete escape, a byte that must not stand unescaped in a target, or text that is
    /// not UTF-8.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let decoded = unescaped(bytes) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes a text that was decoded before: any byte may stand in it, and a text with broken escapes stands for
    /// itself.
    ///
    /// Nil for text that is not UTF-8.
    static func decodeAgain(_ bytes: ArraySlice<UInt8>) -> String? {
        String(validating: unescaped(bytes) ?? Array(bytes), as: UTF8.self)
    }

    /// The bytes that a text with escapes stands for; nil for an incomplete escape.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return decoded
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
    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count + text.utf8.count / 2)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes what must not stand in a field that holds a URL: all but the visible characters of ASCII, and quotes and
    /// brackets.
    package static func location(_ url: String) -> String {
        var encoded: [UInt8] = []
        for byte in url.utf8 {
            if byte > 0x20, byte < 0x7f, !"\"<>\\^`{|}".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
