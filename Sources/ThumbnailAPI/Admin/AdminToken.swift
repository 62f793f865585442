import Crypto
import Dialects
package import Downloading
import HTTPTypes

/// The bearer token (RFC 6750) that requests require, except health checks and files of the page, which hold no data.
package struct AdminToken: Sendable {
    private static let scheme = "bearer "

    private let token: [UInt8]?

    /// - Parameter token: The token; if nil, all requests are accepted.
    package init(_ token: Secret?) { self.token = token.map { Array($0.text.utf8) } }
}

extension AdminToken: RequestCheck {
    func check(_ context: RequestContext) throws(APIError) -> Outcome? {
        guard let token else { return nil }
        switch context.route {
        case .live, .ready, .file: return nil
        default:
            let field = context.request?.headerFields[.authorization] ?? ""
            guard field.prefix(Self.scheme.count).lowercased() == Self.scheme,
                HMAC.isEqual(Array(field.dropFirst(Self.scheme.count).utf8), token)
            else { throw .badToken }
            return nil
        }
    }
}

extension AdminToken: ResponseCompletion {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        if outcome.response.status == .unauthorized { outcome.response.headerFields.append(.wwwAuthenticate, "Bearer") }
    }
}
