import Text

/// Host and path of a source, never user information, query or fragment.
///
/// Clients can send any text. A password in it may be unescaped, or escaped several times, so all text that could be a
/// password is omitted.
package enum SourceLabel {
    /// Replaces text omitted from the middle.
    private static let hidden = Array("***".utf8)

    package static func text(_ source: String) -> String {
        let bytes = Array(source.utf8)[...]
        return String(decoding: url(bytes) ?? textWithoutUserInformation(bytes), as: UTF8.self)
    }

    /// With the scheme, and a mark for an omitted query.
    package static func url(_ source: String) -> String {
        let scheme = source.utf8.prefix { isSchemeByte($0) }
        let label = text(source)
        let isURL = source.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
        return (isURL ? "\(Substring(scheme))://" : "") + label + (source.contains("?") ? "?***" : "")
    }

    /// Host, port and path if `bytes` are a URL up to its path; otherwise nil.
    private static func url(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = bytes.prefix { isSchemeByte($0) }
        let rest = bytes[scheme.endIndex...]
        guard !scheme.isEmpty, rest.starts(with: "://".utf8) else { return nil }
        let authority = rest.dropFirst(3).prefix {
            !isDelimiter($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
        }
        let host = authority[(end(ofLast: UInt8(ascii: "@"), in: authority) ?? authority.startIndex)...]
        guard isHostAndPort(host) else { return nil }
        let afterHost = bytes[host.endIndex...]
        let path = afterHost.prefix { !isDelimiter($0) }
        guard let colon = end(ofFirst: UInt8(ascii: ":"), in: path),
            let at = end(ofLast: UInt8(ascii: "@"), in: afterHost[colon...])
        else { return host + path }
        // A URL in the path may have user information too.
        return host + "/".utf8 + hidden + (at <= path.endIndex ? bytes[at..<path.endIndex] : [])
    }

    /// A password may contain any character.
    private static func textWithoutUserInformation(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let visible = bytes.prefix { !isDelimiter($0) }
        guard let at = end(ofLast: UInt8(ascii: "@"), in: bytes) else { return visible }
        return at <= visible.endIndex ? bytes[at..<visible.endIndex] : hidden[...]
    }

    private static func isHostAndPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if bytes.first == UInt8(ascii: "["), let closing = bytes.firstIndex(of: UInt8(ascii: "]")) {
            rest = bytes[bytes.index(after: closing)...]
            guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return false }
        }
        guard end(ofFirst: UInt8(ascii: ":"), in: rest) != nil else { return !bytes.isEmpty }
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex else { return false }
        return rest[(colon + 1)...].allSatisfy(\.isASCIIDigit)
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "+-.".utf8.contains(byte) }

    private static func isDelimiter(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    private static func end(ofFirst character: UInt8, in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.lazy.compactMap { end(of: character, at: $0, in: bytes) }.first
    }

    private static func end(ofLast character: UInt8, in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.reversed().lazy.compactMap { end(of: character, at: $0, in: bytes) }.first
    }

    /// Plain or percent-encoded any number of times; nil for any other character.
    private static func end(of character: UInt8, at index: Int, in bytes: ArraySlice<UInt8>) -> Int? {
        if bytes[index] == character { return index + 1 }
        guard bytes[index] == UInt8(ascii: "%") else { return nil }
        var digits = bytes[(index + 1)...]
        while digits.starts(with: "25".utf8) { digits = digits.dropFirst(2) }
        guard let byte = UInt8(String(decoding: digits.prefix(2), as: UTF8.self), radix: 16), byte == character,
            digits.count >= 2
        else { return nil }
        return digits.startIndex + 2
    }
}
