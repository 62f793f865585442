import Text

/// The text that an operator puts before the sources that targets of a dialect name: `https://`,
/// `https://example.com/photos/` or `NAME:`.
///
/// A base that names a host is closed by a slash, so that no source can continue the name of the host or its port.
package struct SourceBase: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The text before sources.
    package let text: String
    /// Whether nothing but a scheme and an authority stands before the slash that closes the base.
    private let isOnlyAuthority: Bool

    /// The base that begins with `text`.
    package init(_ text: String) {
        isOnlyAuthority = Self.endsInAuthority(Array(text.utf8))
        self.text = isOnlyAuthority ? text + "/" : text
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// The source that a text below the base names.
    func source(_ below: [UInt8]) -> [UInt8] {
        Array(text.utf8) + (isOnlyAuthority && below.first == UInt8(ascii: "/") ? below.dropFirst() : below[...])
    }

    /// The source that an absolute path of a URL, perhaps with a query, names below the base, which ends in a slash or
    /// in an origin's colon.
    ///
    /// Below an origin the path names a file as well as a part of a URL.
    func source(path reference: String) -> String {
        let below = reference.hasPrefix("/") ? reference.dropFirst() : reference[...]
        guard !text.contains("://") else { return text + below }
        let path = below.prefix(before: UInt8(ascii: "?"))
        return text + PercentEncoding.plain(path) + below[path.endIndex...]
    }

    /// Whether a source begins with the base already.
    func begins(_ source: [UInt8]) -> Bool { source.starts(with: text.utf8) }

    /// Whether a text ends within the host or the port of a URL, so that more text would continue them.
    static func endsInAuthority(_ text: [UInt8]) -> Bool {
        authority(atEndOf: text)?.isEmpty == false
    }

    /// The authority of a URL of which no more is there; nil for other texts.
    static func authority(atEndOf text: [UInt8]) -> ArraySlice<UInt8>? {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let authority = text[(colon + 3)...]
        return authority.contains { "/?#\\".utf8.contains($0) } ? nil : authority
    }
}
