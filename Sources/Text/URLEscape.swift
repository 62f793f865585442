/// Escapes in paths of URLs (RFC 3986 section 2.1) that are decoded only where that changes no meaning.
package enum URLEscape {
    /// The characters that delimit the parts of a URL (RFC 3986 section 2.2), but not the slash, and the percent sign.
    ///
    /// An escape of one of them stands for the character itself, without its meaning as a delimiter.
    package static let reserved = Set("!#$%&'()*+,:;=?@[]".utf8)

    /// The text with those escapes decoded whose byte is of a kind; the text itself if the result is not UTF-8.
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
