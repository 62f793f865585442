package import HTTPTypes
import Text

/// A client field or cookie that is forwarded to a named origin.
package struct ForwardedField: Hashable, Sendable {
    private static let forbiddenNames: Set<ExactText> = [
        "accept-encoding", "cdn-loop", "connection", "expect", "forwarded", "host", "keep-alive", "range", "te",
        "traceparent", "tracestate", "trailer", "transfer-encoding", "upgrade", "via",
    ]
    private static let forbiddenPrefixes = ["content-", "if-", "proxy-", "x-amz-", "x-forwarded-"]

    package let name: HTTPField.Name
    /// The cookie's name; nil forwards the whole field.
    let cookie: ExactText?

    package static let maximumCount = 8

    /// Parses a field name, or `Cookie:NAME`.
    package init?(_ text: String) {
        if let cookie = text.suffix(after: UInt8(ascii: ":")) {
            guard text.prefix(before: UInt8(ascii: ":")).asciiLowercased == "cookie",
                HTTPField.Name(String(cookie)) != nil
            else { return nil }
            name = .cookie
            self.cookie = ExactText(cookie)
        } else {
            guard let name = HTTPField.Name(text) else { return nil }
            self.name = name
            cookie = nil
        }
    }

    /// Whether the field is about the connection, the cache, the body or proxies, and so cannot be forwarded.
    package var isForbidden: Bool {
        let name = name.rawName.asciiLowercased
        return Self.forbiddenNames.contains(ExactText(name)) || Self.forbiddenPrefixes.contains { name.hasPrefix($0) }
    }

    /// Whether both forward the same value, or one contains the other.
    package func clashes(with other: ForwardedField) -> Bool {
        name == other.name && (cookie == nil || other.cookie == nil || cookie == other.cookie)
    }

    /// The field in the form of the settings.
    var text: String { name.rawName.asciiLowercased + (cookie.map { ":" + $0.string } ?? "") }

    /// Returns the client's value; nil if it is missing or empty.
    func value(in fields: HTTPFields) -> String? {
        guard let cookie else { return fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        let pairs = fields.values(of: .cookie).flatMap { $0.split(separator: ";") }.map { HTTPSyntax.trimmed($0) }
        let named = pairs.filter { ExactText($0.prefix(before: UInt8(ascii: "="))) == cookie }
        return named.isEmpty ? nil : named.joined(separator: "; ")
    }
}
