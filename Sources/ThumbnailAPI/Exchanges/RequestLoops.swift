import HTTPTypes
import Text

/// Recognises requests that the service sent itself, by their `CDN-Loop` (RFC 8586).
///
/// Without it, a source that redirects to a URL of the service, whose source does so again, would have the service ask
/// itself for ever.
struct RequestLoops: Sendable {
    private let name: ExactText?

    /// Recognises the requests of services of this name; without one, none.
    init(name: String?) {
        self.name = name.map { ExactText($0.asciiLowercased) }
    }

    /// Whether a service of the name has sent the request, or passed it on.
    func include(_ request: HTTPRequest) -> Bool {
        guard let name, request.headerFields[.cdnLoop] != nil else { return false }
        return request.headerFields.values(of: .cdnLoop).contains { value in
            HTTPSyntax.list(value).contains { member in
                let id = HTTPSyntax.list(member, separator: UInt8(ascii: ";")).first ?? ""
                return ExactText(id.asciiLowercased) == name
            }
        }
    }
}
