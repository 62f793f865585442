/// Percent-encoding (RFC 3986 section 2.1); a plus does not stand for a space.
package enum URLEscape {
    /// The reserved characters (RFC 3986 section 2.2) except the slash, and the percent sign.
    ///
    /// Their escapes stand for the characters themselves, without their meaning as delimiters.
    package static let reserved = Set("!#$%&'()*+,:;=?@[]".utf8)

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether the byte is unreserved (RFC 3986 section 2.3).
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }

    package static func encode(
        _ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool = isUnreserved
    ) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 3 / 2)
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func decode(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        // Generic code of another module is not specialized, so a byte at a time would be slow.
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let value = popValue(from: &rest) else { return nil }
            decoded.append(value)
        }
        return decoded
    }

    /// Decodes only some escapes; returns the text unchanged if the result is not UTF-8.
    package static func decode(_ text: some StringProtocol, where isDecoded: (UInt8) -> Bool) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            var next = rest
            if byte == UInt8(ascii: "%"), let value = popValue(from: &next), isDecoded(value) {
                bytes.append(value)
                rest = next
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? String(text)
    }

    /// Removes the two digits of an escape, and returns their value.
    private static func popValue(from rest: inout ArraySlice<UInt8>) -> UInt8? {
        guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
            return nil
        }
        return high << 4 | low
    }
}
