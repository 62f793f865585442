import Text

/// A media type without parameters, in lowercase: `image/png` (RFC 9110 section 8.3.1).
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    package let type: String
    package let subtype: String

    /// Drops parameters of a `Content-Type`.
    package init?(_ value: String) {
        let essence = HTTPSyntax.trimmed(value.prefix(before: UInt8(ascii: ";"))).asciiLowercased
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(HTTPSyntax.isToken) }) else {
            return nil
        }
        type = String(parts[0])
        subtype = String(parts[1])
    }

    package var description: String { type + "/" + subtype }
}
