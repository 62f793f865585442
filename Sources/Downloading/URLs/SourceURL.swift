package import HTTPTypes
package import Text

/// An absolute http or https URL, parsed once.
///
/// Spellings of the same URL are equal: scheme and host are lowercase, internationalized hosts are in Punycode, and the
/// default port and the fragment are omitted. The service fetches the canonical text, so that no second parser can
/// disagree with the first.
package struct SourceURL: Hashable, Sendable, CustomStringConvertible {
    private static let maximumLength = 2048
    static let folderScheme = "folder"
    private static let uploadScheme = "given"

    /// The URL in canonical form; it is ASCII, so comparing it as a `String` compares bytes.
    package let canonical: String
    package let scheme: String
    package let host: String
    package let port: Int
    package let path: String
    package let address: IPAddress?

    var byteCount: Int { [canonical, host, path].reduce(0) { $0 + $1.utf8.count / 8 * 9 + 48 } }

    /// Rejects dot segments in any spelling, because servers resolve more of them than URL parsers.
    package init(parsing text: String) throws(SourceURLError) {
        let text = URLEscape.escapingBlanks(in: text)
        let scheme = try Self.scheme(of: text)
        let rest = text[text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count + 3)...]
        let writtenHost = try Self.writtenHost(in: rest)
        guard !DotSegments.areIn(rest.prefix(before: UInt8(ascii: "?"), UInt8(ascii: "#"))) else { throw .dotSegment }
        guard let parts = URLParts(text) else { throw .malformed }
        let host = try SourceHost(parts.host, written: writtenHost)
        self.scheme = scheme
        self.host = host.name
        address = host.address
        port = parts.port ?? (scheme == "https" ? 443 : 80)
        path = parts.path
        let written = host.address?.isV6 == true ? "[\(host.name)]" : host.name
        canonical =
            scheme + "://" + written + (parts.port.map { ":\($0)" } ?? "") + parts.path
            + (parts.query.map { "?" + $0 } ?? "")
        guard canonical.hasOnlyBytes({ $0 < 0x80 }) else { throw .malformed }
    }

    /// Resolves the location as browsers do (RFC 9110 section 10.2.2).
    package func redirected(to location: String) throws(SourceURLError) -> SourceURL {
        let location = URLEscape.reference(location, from: scheme)
        let start = location.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"))
        if start.utf8.contains(UInt8(ascii: ":")) { return try SourceURL(parsing: location) }
        if location.suffix(after: "//") != nil { return try SourceURL(parsing: scheme + ":" + location) }
        try Self.checkBytes(of: location)
        // Only unescaped dot segments are resolved; libcurl 8 would also resolve escaped ones.
        let path = location.prefix(before: UInt8(ascii: "?"), UInt8(ascii: "#"))
        guard path.split(separator: "/").allSatisfy({ $0 == "." || $0 == ".." || !DotSegments.areIn($0) }) else {
            throw .dotSegment
        }
        guard let absolute = URLParts.resolve(location, against: canonical) else { throw .malformed }
        return try SourceURL(parsing: absolute)
    }

    /// Represents a file in a folder of the settings as `folder://NAME/PATH`.
    ///
    /// Parses each segment by ``URLEscape/fileName(_:)``; the caller has rejected dot segments.
    init(inFolder name: String, path: Substring) throws(SourceURLError) {
        let relative = URLEscape.fileName(path.suffix(after: "/") ?? path)
        let segments = relative.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard segments.allSatisfy({ !$0.isEmpty }), !relative.utf8.contains(0),
            relative.utf8.count <= Self.maximumLength
        else { throw .malformed }
        scheme = Self.folderScheme
        host = name
        port = 0
        address = nil
        self.path = "/" + segments.map { URLEscape.encode($0) }.joined(separator: "/")
        canonical = "\(scheme)://\(name)\(self.path)"
    }

    var fileSegments: [String] { path.split(separator: "/").map { URLEscape.text(of: $0) } }

    /// Represents an uploaded image as `given://NAME/`.
    init(uploaded name: String) {
        scheme = Self.uploadScheme
        host = name
        port = 0
        address = nil
        path = "/"
        canonical = "\(scheme)://\(name)/"
    }

    var isUpload: Bool { scheme == Self.uploadScheme }

    var isInFolder: Bool { scheme == Self.folderScheme }

    var isOnWeb: Bool { !isUpload && !isInFolder }

    /// The value of the `Host` field.
    var authority: Substring { canonical.dropFirst(scheme.utf8.count + 3).prefix(before: UInt8(ascii: "/")) }

    var query: Substring? { canonical.suffix(after: UInt8(ascii: "?")) }

    package var target: String { path + (query.map { "?" + $0 } ?? "") }

    func replacingQuery(with query: String?) throws(SourceURLError) -> SourceURL {
        let rest = canonical.prefix(before: UInt8(ascii: "?"))
        return try SourceURL(parsing: rest + (query.map { "?" + $0 } ?? ""))
    }

    package var hostAndPort: ExactText { ExactText("\(host):\(port)") }

    package var description: String { canonical }

    package static func == (left: SourceURL, right: SourceURL) -> Bool { left.canonical == right.canonical }

    package func hash(into hasher: inout Hasher) { hasher.combine(canonical) }

    private static func checkBytes(of text: String) throws(SourceURLError) {
        let isClean = text.hasOnlyBytes { $0 != 0x20 && !$0.isASCIIControl && $0 != UInt8(ascii: "\\") }
        guard isClean, text.utf8.count <= maximumLength else { throw .malformed }
    }

    private static func scheme(of text: String) throws(SourceURLError) -> String {
        try checkBytes(of: text)
        let scheme = text.prefix(before: UInt8(ascii: ":")).asciiLowercased
        guard text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8),
            scheme.utf8.first.map(\.isASCIILowercase) == true, scheme.hasOnlyBytes({ HTTPSchemeSyntax.isAllowed($0) })
        else { throw .malformed }
        guard scheme == "http" || scheme == "https" else { throw .schemeNotAllowed(scheme) }
        return scheme
    }

    /// Returns the host with brackets and without the port; rejects user names and escapes.
    private static func writtenHost(in rest: Substring) throws(SourceURLError) -> String {
        let authority = rest.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"))
        guard !authority.isEmpty,
            !authority.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "%") })
        else { throw .malformed }
        if authority.utf8.first == UInt8(ascii: "[") { return authority.prefix(before: UInt8(ascii: "]")) + "]" }
        return String(authority.prefix(before: UInt8(ascii: ":")))
    }
}

private enum HTTPSchemeSyntax {
    static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILowercase || byte.isASCIIDigit || "+-.".utf8.contains(byte)
    }
}

package enum SourceURLError: Error, Hashable, Sendable {
    /// The text is not an absolute URL (RFC 3986), or has a user name, an invalid host, or more than 2048 bytes.
    case malformed
    /// The path has a `.` or `..` segment, or would have one after decoding escapes once.
    case dotSegment
    /// A path below a named origin has dot segments and could leave its base.
    case pathNotAllowed
    case schemeNotAllowed(String)
    /// The host is a disguised address: `2130706433`, `0x7f.1`, `[::ffff:127.0.0.1]`.
    case literalNotAllowed(String)
}

extension SourceURLError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "URLs: not an absolute URL"
        case .dotSegment: "URLs: a segment . or .. in the path"
        case .pathNotAllowed: "origins: a path below one has no segment . or .."
        case .schemeNotAllowed(let scheme): "schemes: \(scheme.prefix(32)) is not http or https"
        case .literalNotAllowed(let host): "addresses: \(host.prefix(64)) is another spelling of an address"
        }
    }
}
