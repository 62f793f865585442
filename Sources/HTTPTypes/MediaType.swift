import Text

/// A media type without its parameters, in lower case: `image/png` (RFC 9110 section 8.3.1).
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// The part before the slash.
    package let type: String
    /// The part after the slash.
    package let subtype: String

    /// Parses a `Content-Type` value without its parameters; nil when it is not a media type.
    package init?(_ value: String) {
        let essence = HTTPSyntax.trimmed(value.prefix(before: UInt8(ascii: ";"))).asciiLowercased
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(HTTPSyntax.isToken) }) else {
            return nil
        }
        type = String(parts[0])
        subtype = String(parts[1])
    }

    /// `type/subtype`.
    package var description: String { type + "/" + subtype }
}
