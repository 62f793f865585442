/// Escapes in URL paths (RFC 3986 section 2.1), decoded only where that does not change the meaning.
package enum URLEscape {
    /// The delimiters in a URL (RFC 3986 section 2.2) except the slash, and the percent sign.
    ///
    /// Their escapes stand for the character itself, without its meaning as a delimiter.
    package static let reserved = Set("!#$%&'()*+,:;=?@[]".utf8)

    /// Decodes the escapes of matching bytes; returns the text unchanged if the result is not UTF-8.
    package static func decode(_ text: some StringProtocol, where isDecoded: (UInt8) -> Bool) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let value = value(of: digits), isDecoded(value) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? String(text)
    }

    private static func value(of digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else {
            return nil
        }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
