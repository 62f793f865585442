import Text

/// The directives of a `Cache-Control` field (RFC 9111 section 5.2).
///
/// Unknown directives are ignored. An invalid number, or two different ones, count as 0, so that the response is stale
/// at once: the safe reading of RFC 9111 section 4.2.1. Of other duplicate directives, the first applies.
package struct CacheControl: Hashable, Sendable {
    private var directives: [ExactText: String]

    /// Parses the joined value of all `Cache-Control` lines; nil if there is no field.
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

    /// Whether a text can be the value of the field: short and without control characters.
    package static func isValue(_ text: String) -> Bool {
        1...256 ~= text.utf8.count && text.hasOnlyBytes { $0 >= 0x20 && $0 < 0x7f }
            && HTTPSyntax.trimmed(text).utf8.count == text.utf8.count
    }

    /// Whether there is a directive of this lowercase name, with or without an argument.
    package func contains(_ name: String) -> Bool { directives[ExactText(name)] != nil }

    /// Returns the argument of a directive; empty if it has none.
    package func argument(_ name: String) -> String? { directives[ExactText(name)] }

    /// Returns the argument of a directive in seconds, capped at 2³¹; 0 if it is invalid (RFC 9111 section 1.2.2).
    package func seconds(_ name: String) -> Int? {
        directives[ExactText(name)].map { Self.seconds($0) ?? 0 }
    }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return min(Int(text) ?? .max, 1 << 31)
    }
}

/// The directives of a request to caches on its path (RFC 9111 section 5.2.1).
package struct RequestCacheControl: Hashable, Sendable {
    /// Requires validation by the origin before a stored response is used; also set by `max-age=0`.
    package var noCache = false
    package var noStore = false
    package var onlyIfCached = false
    package var maxAge: Int?
    /// The number of seconds for which the response must stay fresh.
    package var minFresh: Int?
    /// The maximum accepted staleness in seconds; `Int.max` for no limit.
    package var maxStale: Int?

    package static let none = RequestCacheControl()

    package init() {}

    package init(_ value: String?) {
        guard let value else { return }
        let control = CacheControl(value)
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh")
        maxStale = control.argument("max-stale").map { $0.isEmpty ? .max : control.seconds("max-stale") ?? 0 }
        noCache = control.contains("no-cache") || maxAge == 0
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
    }
}
