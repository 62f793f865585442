extension URLEscape {
    /// Decodes a text once; nil for an incomplete escape, a byte that a target must escape, or invalid UTF-8.
    package static func decodeText(_ bytes: some Collection<UInt8>) -> String? {
        guard bytes.allSatisfy(\.isVisibleASCII), let decoded = decode(bytes) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes a text again, which may contain any byte; returns it unchanged if an escape is incomplete.
    ///
    /// Returns nil for invalid UTF-8.
    package static func decodeAgain(_ bytes: some Collection<UInt8>) -> String? {
        String(validating: decode(bytes) ?? Array(bytes), as: UTF8.self)
    }

    /// Decodes only escapes that are equivalent to the characters themselves.
    package static func decodingPlain(_ path: some StringProtocol) -> String {
        decode(path) { byte in
            !byte.isASCIIControl && !reserved.contains(byte) && !"/\\".utf8.contains(byte)
        }
    }

    /// Escapes the escapes of `%`, `?` and `#` again, so that decoding keeps them.
    package static func escapingMarks(in text: some StringProtocol) -> String {
        var unescaped: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            unescaped.append(byte)
            let next = String(decoding: rest.prefix(2), as: UTF8.self).asciiLowercased
            if byte == UInt8(ascii: "%"), ["25", "3f", "23"].contains(next) { unescaped += "25".utf8 }
        }
        return String(decoding: unescaped, as: UTF8.self)
    }

    /// Escapes all but the unreserved characters of RFC 3986 section 2.3.
    package static func encode(_ text: String) -> String { encode(text.utf8) }

    /// Escapes a URL for `Location`: everything except visible ASCII, and also quotes and brackets.
    package static func location(_ url: String) -> String {
        encode(url.utf8) { $0.isVisibleASCII && !"\"<>\\^`{|}".utf8.contains($0) }
    }

    /// Escapes spaces and other characters that a URL must not contain.
    package static func escapingRest(of text: String) -> String {
        let unescaped = Array("-._~!$&'()*+,;=:@/?%".utf8)
        return encode(text.utf8) { $0.isASCIIAlphanumeric || unescaped.contains($0) }
    }

    package static func escapingBlanks(in url: String) -> String {
        guard url.utf8.contains(0x20) else { return url }
        let authority = url.suffix(after: UInt8(ascii: ":"))?.drop { $0 == "/" } ?? url[...]
        let path = authority.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")).endIndex
        return String(url[..<path]) + encode(url[path...].utf8) { $0 != 0x20 }
    }

    /// Normalizes a reference like browsers (WHATWG's URL Standard, "basic URL parser").
    ///
    /// Trims blanks, escapes other blanks as `%20`, converts a backslash to a slash before the query and to `%5C` in
    /// it, and accepts any number of slashes after a web scheme.
    ///
    /// - Parameter baseScheme: The scheme of a reference that has none.
    package static func reference(_ text: String, from baseScheme: String) -> String {
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes = bytes.drop { $0 <= 0x20 }
        let end = bytes.firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        let head = String(
            decoding: bytes[..<end].map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        let tail = encode(bytes[end...]) { $0 != UInt8(ascii: "\\") }
        let scheme = head.prefix(before: UInt8(ascii: ":")).asciiLowercased
        let isAbsolute = ["http", "https"].contains(scheme) && scheme.utf8.count < head.utf8.count
        let rest = isAbsolute ? head.dropFirst(scheme.count + 1) : head[...]
        let below = rest.drop { $0 == "/" }
        let slashes = rest.count - below.count
        let isOfHost = slashes >= 2 || isAbsolute && scheme != baseScheme
        guard isOfHost else { return encode((rest + tail).utf8) { $0 != 0x20 } }
        return escapingBlanks(in: "\(isAbsolute ? scheme : baseScheme)://\(below)\(tail)")
    }

    /// Decodes the escapes of reserved characters, which front ends write in names; other characters are literal.
    package static func fileName(_ path: Substring) -> String { decode(path) { reserved.contains($0) } }

    package static func path(ofFile name: String) -> String {
        fileName(name[...]).isExactly(name) ? name : encode(name.utf8) { $0 != UInt8(ascii: "%") }
    }

    package static func text(of escaped: Substring) -> String {
        decode(escaped.utf8).map { String(decoding: $0, as: UTF8.self) } ?? String(escaped)
    }
}
