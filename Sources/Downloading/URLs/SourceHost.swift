import HTTPTypes
import Text

/// The host of a source URL: a name in canonical form, or an address in its usual spelling.
struct SourceHost {
    let name: String
    let address: IPAddress?

    /// Rejects disguised addresses that the URL parser would convert, such as `2130706433` or full-width digits.
    init(_ parsed: String, written: String) throws(SourceURLError) {
        var name = parsed.asciiLowercased
        if name.hasPrefix("[") {
            guard let address = IPAddress(String(name.dropFirst().dropLast())), address.isV6 else { throw .malformed }
            guard address.unmapped == address else { throw .literalNotAllowed(written) }
            self.name = address.description
            self.address = address
            return
        }
        let isWrittenInASCII = written.hasOnlyBytes { $0 < 0x80 }
        guard isWrittenInASCII || name.contains("xn--") else { throw .literalNotAllowed(written) }
        if name.hasSuffix(".") { name.removeLast() }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if let last = labels.last, Self.isNumber(last) {
            guard let address = IPAddress(name), written == address.description else {
                throw .literalNotAllowed(written)
            }
            self.name = name
            self.address = address
            return
        }
        guard name.utf8.count <= 253, labels.allSatisfy({ Self.isLabel($0) }) else { throw .malformed }
        self.name = name
        address = nil
    }

    /// URL parsers read a host whose last label is a number as an IPv4 address (WHATWG URL section 3.5).
    private static func isNumber(_ label: Substring) -> Bool {
        let isDecimal = label.utf8.allSatisfy(\.isASCIIDigit)
        return !label.isEmpty && isDecimal || label.hasPrefix("0x") && UInt64(label.dropFirst(2), radix: 16) != nil
            || label == "0x"
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count)
            && label.utf8.allSatisfy { byte in
                byte.isASCIILowercase || byte.isASCIIDigit || "-_".utf8.contains(byte)
            }
    }
}
