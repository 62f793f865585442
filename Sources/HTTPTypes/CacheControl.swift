import Text

/// RFC 9111 section 5.2.
///
/// Unknown directives are ignored. An invalid number, or two different ones, count as 0, so that the response is stale
/// at once: the safe reading of section 4.2.1. Of other duplicate directives, the first applies.
package struct CacheControl: Hashable, Sendable {
    private var directives: [ExactText: String]

    package init(_ value: String?) {
        directives = [:]
        for member in value.map({ HTTPSyntax.list($0) }) ?? [] {
            let name = ExactText(HTTPSyntax.trimmed(member.prefix(before: UInt8(ascii: "="))).asciiLowercased)
            let argument = member.suffix(after: UInt8(ascii: "=")).map { HTTPSyntax.trimmed($0) }
            let text = argument.map(HTTPSyntax.unquoted) ?? ""
            if let earlier = directives[name], earlier != text,
                Self.seconds(text) != nil || Self.seconds(earlier) != nil
            {
                directives[name] = "0"
            } else if directives[name] == nil {
                directives[name] = text
            }
        }
    }

    /// Short and without control characters.
    package static func isValue(_ text: String) -> Bool {
        1...256 ~= text.utf8.count && text.hasOnlyBytes(\.isPrintableASCII)
            && HTTPSyntax.trimmed(text).utf8.count == text.utf8.count
    }

    /// - Parameter name: In lowercase.
    package func contains(_ name: String) -> Bool { directives[ExactText(name)] != nil }

    /// Returns an empty text if the directive has no argument, and nil if it is missing.
    package func argument(_ name: String) -> String? { directives[ExactText(name)] }

    /// Capped at 2³¹; 0 if the argument is invalid (RFC 9111 section 1.2.2).
    package func seconds(_ name: String) -> Int? { directives[ExactText(name)].map { Self.seconds($0) ?? 0 } }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return min(Int(text) ?? .max, 1 << 31)
    }
}
