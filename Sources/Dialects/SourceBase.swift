import Text

/// The prefix that an operator configures for a dialect's sources: `https://`, `https://example.com/photos/` or
/// `NAME:`.
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

    /// Returns the source for a URL's absolute path, with an optional query, under the base, which ends in a slash or
    /// in an origin's colon.
    ///
    /// In an origin, the path may name a file or a part of a URL.
    func source(path reference: String) -> String {
        let below = reference.hasPrefix("/") ? reference.dropFirst() : reference[...]
        guard !text.contains("://") else { return text + below }
        let path = below.prefix(before: UInt8(ascii: "?"))
        return text + URLEscape.decodingPlain(path) + below[path.endIndex...]
    }

    func begins(_ source: [UInt8]) -> Bool { source.starts(with: text.utf8) }

    /// Returns whether a text ends within the host or the port of a URL, so that more text would continue them.
    static func endsInAuthority(_ text: [UInt8]) -> Bool {
        authority(atEndOf: text)?.isEmpty == false
    }

    static func authority(atEndOf text: [UInt8]) -> ArraySlice<UInt8>? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let authority = text[(colon + 3)...]
        return authority.contains { "/?#\\".utf8.contains($0) } ? nil : authority
    }
}
