import Dialects
import HTTPTypes

/// CORS preflights (Fetch standard, "CORS-preflight fetch").
struct CrossOrigin: RequestCheck {
    private let common: HTTPFields
    private let isAllowed: Bool
    private let allowed: String

    /// Browsers limit this to their own maximum: two hours in Chromium.
    private static let maximumAge = 86_400

    /// Fields that the service reads, and that need permission.
    private static let read = [
        HTTPField.Name.accept, .alulaSignature, .cacheControl, .contentDigest, .contentType, .ifModifiedSince,
        .ifNoneMatch, .traceparent,
    ]

    /// - Parameter forwardsFields: Whether origins receive fields of clients; a preflight does not name them.
    init(isAllowed: Bool, common: HTTPFields, forwardsFields: Bool = false) {
        (self.isAllowed, self.common) = (isAllowed, common)
        allowed =
            (Self.read + (forwardsFields ? [.authorization] : [])).map(\.rawName).joined(separator: ", ")
            + (forwardsFields ? ", *" : "")
    }

    /// A 204 with the methods of the route.
    func check(_ context: RequestContext) -> Outcome? {
        guard isAllowed, context.method == .options, context.bodyLength == 0, !context.route.isNone else { return nil }
        var fields = common
        fields.append(.accessControlAllowMethods, context.route.allow)
        fields.append(.accessControlAllowHeaders, allowed)
        fields.append(.accessControlMaxAge, String(Self.maximumAge))
        return Outcome(response: HTTPResponse(status: .noContent, headerFields: fields))
    }
}
