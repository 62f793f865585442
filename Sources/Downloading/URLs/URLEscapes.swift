import Text

/// Percent-encoding of the path after an origin's name, as written by clients (RFC 3986 section 2.1).
package enum URLEscapes {
    /// Escapes spaces and other characters not allowed in a URL, and leaves everything else unchanged.
    static func escapingRest(of text: String) -> String {
        let kept = Array("-._~!$&'()*+,;=:@/?%".utf8)
        return URLEscape.encode(text.utf8) { $0.isASCIIAlphanumeric || kept.contains($0) }
    }

    /// Replaces blanks in the path, query and fragment of an absolute URL with `%20`.
    static func escapingBlanks(in url: String) -> String {
        guard url.utf8.contains(0x20) else { return url }
        let authority = url.suffix(after: UInt8(ascii: ":"))?.drop { $0 == "/" } ?? url[...]
        let path = authority.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")).endIndex
        return String(url[..<path]) + URLEscape.encode(url[path...].utf8) { $0 != 0x20 }
    }

    /// Converts a reference to the spelling of RFC 3986, as browsers do (WHATWG's URL Standard, "basic URL parser"):
    /// trims blanks, escapes other blanks as `%20`, converts a backslash to a slash before the query and to `%5C` in
    /// it, and accepts any number of slashes after a web scheme.
    ///
    /// - Parameter baseScheme: The scheme of the base URL, which the reference may omit along with its slashes.
    static func reference(_ text: String, from baseScheme: String) -> String {
        var bytes = Array(text.utf8)[...]
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes = bytes.drop { $0 <= 0x20 }
        let end = bytes.firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
        let head = String(
            decoding: bytes[..<end].map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)
        let tail = URLEscape.encode(bytes[end...]) { $0 != UInt8(ascii: "\\") }
        let scheme = head.prefix(before: UInt8(ascii: ":")).asciiLowercased
        let isAbsolute = ["http", "https"].contains(scheme) && scheme.utf8.count < head.utf8.count
        let rest = isAbsolute ? head.dropFirst(scheme.count + 1) : head[...]
        let below = rest.drop { $0 == "/" }
        let slashes = rest.count - below.count
        let isOfHost = slashes >= 2 || isAbsolute && scheme != baseScheme
        guard isOfHost else { return URLEscape.encode((rest + tail).utf8) { $0 != 0x20 } }
        return escapingBlanks(in: "\(isAbsolute ? scheme : baseScheme)://\(below)\(tail)")
    }

    /// Returns the name of a file in a folder's path, with the escapes of reserved characters decoded.
    ///
    /// Front ends write names with them. All other characters are literal.
    static func fileName(_ path: Substring) -> String { URLEscape.decode(path) { URLEscape.reserved.contains($0) } }

    static func path(ofFile name: String) -> String {
        fileName(name[...]).isExactly(name) ? name : URLEscape.encode(name.utf8) { $0 != UInt8(ascii: "%") }
    }

    /// Decodes escapes in a text that was escaped by the service.
    static func text(of escaped: Substring) -> String {
        URLEscape.decode(escaped.utf8).map { String(decoding: $0, as: UTF8.self) } ?? String(escaped)
    }
}
