import Text

/// Percent-encoding of the path that clients write after an origin's name (RFC 3986 section 2.1).
package enum URLEscapes {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text with spaces and other characters that are not allowed in a URL escaped, and nothing else changed.
    static func escapingRest(of text: String) -> String {
        let kept = Array("-._~!$&'()*+,;=:@/?%".utf8)
        return escaped(text.utf8) { isAlphanumeric($0) || kept.contains($0) }
    }

    /// An absolute URL with `%20` for the blanks in its path, query and fragment.
    static func escapingBlanks(in url: String) -> String {
        guard url.utf8.contains(0x20) else { return url }
        let authority = url.suffix(after: UInt8(ascii: ":"))?.drop { $0 == "/" } ?? url[...]
        let path = authority.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")).endIndex
        return String(url[..<path]) + escaped(url[path...].utf8) { $0 != 0x20 }
    }

    /// A reference in the spelling of RFC 3986, as browsers read the ones that are not in it (WHATWG's URL Standard,
    /// "basic URL parser"): blanks at its ends mean nothing and others are `%20`, a backslash before the query is a
    /// slash, in it `%5C`, and after a scheme of the web there may be any number of slashes.
    ///
    /// - Parameter baseScheme: The scheme of the URL where it was found, which may be left out, its slashes included.
    static func reference(_ text: String, from baseScheme: String) -> String {
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes = bytes.drop { $0 <= 0x20 }
        let end = bytes.firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        let head = String(
            decoding: bytes[..<end].map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        let tail = escaped(bytes[end...]) { $0 != UInt8(ascii: "\\") }
        let scheme = head.prefix(before: UInt8(ascii: ":")).asciiLowercased
        let isAbsolute = ["http", "https"].contains(scheme) && scheme.utf8.count < head.utf8.count
        let rest = isAbsolute ? head.dropFirst(scheme.count + 1) : head[...]
        let below = rest.drop { $0 == "/" }
        let slashes = rest.count - below.count
        let isOfHost = slashes >= 2 || isAbsolute && scheme != baseScheme
        guard isOfHost else { return escaped((rest + tail).utf8) { $0 != 0x20 } }
        return escapingBlanks(in: "\(isAbsolute ? scheme : baseScheme)://\(below)\(tail)")
    }

    /// The name of a file in a folder's path, without the escapes of the characters that URLs keep for their own parts.
    ///
    /// Front ends write names with them. All else stands for itself.
    static func fileName(_ path: Substring) -> String { URLEscape.decode(path) { URLEscape.reserved.contains($0) } }

    /// The path that ``fileName(_:)`` reads as a name.
    static func path(ofFile name: String) -> String {
        fileName(name[...]).isExactly(name) ? name : escaped(name.utf8) { $0 != UInt8(ascii: "%") }
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
