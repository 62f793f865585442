import Text

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
