import Text

/// The path of a dialect, such as `/img`, or `/` for all paths that are not Alula's.
package struct PathPrefix: Hashable, Sendable {
    package let path: String
    private let prefix: String

    /// Returns nil unless the path is `/`, or begins with a slash and continues with nonempty segments.
    package init?(_ path: String) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ Self.isAllowed($0) }) else { return nil }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard path == "/" || segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.path = path
        prefix = path == "/" ? "" : path
    }

    package func match(on target: String) -> DialectMatch {
        if prefix.isEmpty { return .fallback }
        return remainder(of: target) == nil ? .none : .exact
    }

    /// Returns the target from the slash or question mark after the prefix; nil if the prefix does not match.
    package func remainder(of target: String) -> Substring? {
        let bytes = target.utf8
        let start = prefix.utf8
        guard bytes.starts(with: start) else { return nil }
        let rest = target[bytes.index(bytes.startIndex, offsetBy: start.count)...]
        switch rest.utf8.first {
        case UInt8(ascii: "/"), UInt8(ascii: "?"): return rest
        case nil where !prefix.isEmpty: return rest
        default: return nil
        }
    }

    func path(of segment: String) -> String { "\(prefix)/\(segment)" }

    package func overlaps(_ other: PathPrefix) -> Bool {
        if prefix.isEmpty || other.prefix.isEmpty { return path == other.path }
        return remainder(of: other.path) != nil || other.remainder(of: path) != nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "/-_.~".utf8.contains(byte) }
}

/// The base of a dialect's sources: `https://`, `https://example.com/photos/` or `NAME:`.
///
/// A base that names a host ends with a slash, so that no source can continue the host name or its port.
package struct SourceBase: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String
    /// Whether the base consists only of a scheme, an authority and a slash.
    private let isOnlyAuthority: Bool

    package init(_ text: String) {
        isOnlyAuthority = Self.endsInAuthority(Array(text.utf8))
        self.text = isOnlyAuthority ? text + "/" : text
    }

    package init(stringLiteral text: String) { self.init(text) }

    func source(_ below: [UInt8]) -> [UInt8] {
        Array(text.utf8) + (isOnlyAuthority && below.first == UInt8(ascii: "/") ? below.dropFirst() : below[...])
    }

    func source(path reference: String) -> String {
        let below = reference.hasPrefix("/") ? reference.dropFirst() : reference[...]
        guard !text.contains("://") else { return text + below }
        let path = below.prefix(before: UInt8(ascii: "?"))
        return text + URLEscape.decodingPlain(path) + below[path.endIndex...]
    }

    func begins(_ source: [UInt8]) -> Bool { source.starts(with: text.utf8) }

    static func endsInAuthority(_ text: [UInt8]) -> Bool { authority(atEndOf: text)?.isEmpty == false }

    static func authority(atEndOf text: [UInt8]) -> ArraySlice<UInt8>? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let authority = text[(colon + 3)...]
        return authority.contains { "/?#\\".utf8.contains($0) } ? nil : authority
    }
}
