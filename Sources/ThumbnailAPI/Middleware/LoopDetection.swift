import Dialects
import HTTPTypes
import Text

/// Rejects image requests that the service has sent, by their `CDN-Loop` (RFC 8586).
///
/// Otherwise, a source that redirects to a URL of the service with a similar source would loop forever.
struct LoopDetection: RequestCheck {
    private let name: ExactText?

    init(name: String?) { self.name = name.map { ExactText($0.asciiLowercased) } }

    func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        guard let request = context.request, isLoop(request) else { return nil }
        if context.route.images != nil || context.route.takesBody { throw .requestLoop }
        return nil
    }

    func isLoop(_ request: HTTPRequest) -> Bool {
        guard let name, request.headerFields[.cdnLoop] != nil else { return false }
        return request.headerFields.values(of: .cdnLoop).contains { value in
            HTTPSyntax.list(value).contains { member in
                let id = HTTPSyntax.list(member, separator: UInt8(ascii: ";")).first ?? ""
                return ExactText(id.asciiLowercased) == name
            }
        }
    }
}
