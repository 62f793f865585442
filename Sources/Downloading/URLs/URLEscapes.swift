/// Percent-encoding of the path that clients write after an origin's name (RFC 3986 section 2.1).
package enum URLEscapes {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text with spaces and other characters that are not allowed in a URL escaped, and nothing else changed.
    static func escapingRest(of text: String) -> String {
        let kept = Array("-._~!$&'()*+,;=:@/?%".utf8)
        return escaped(text.utf8) { isAlphanumeric($0) || kept.contains($0) }
    }

    /// The bytes with all but letters, digits and `-._~` escaped.
    package static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        let kept = Array("-._~".utf8)
        return escaped(bytes) { isAlphanumeric($0) || kept.contains($0) }
    }

    /// The bytes that a text with escapes stands for; nil if an escape is broken.
    static func decoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, rest.prefix(2).allSatisfy({ isHexadecimal($0) }),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// The text that a text with escapes stands for, which was made of one.
    static func text(of escaped: Substring) -> String {
        decoded(escaped).map { String(decoding: $0, as: UTF8.self) } ?? String(escaped)
    }

    private static func escaped(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
