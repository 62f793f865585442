import Dialects
import HTTPTypes

/// CORS preflights (Fetch standard, "CORS-preflight fetch").
struct CrossOrigin: RequestCheck {
    private let common: HTTPFields
    private let isAllowed: Bool

    /// Browsers limit this to their own maximum: two hours in Chromium.
    private static let maximumAge = 86_400

    /// Fields that the service reads, and that need permission.
    private static let allowed = [
        HTTPField.Name.accept, .alulaSignature, .cacheControl, .contentDigest, .contentType, .ifModifiedSince,
        .ifNoneMatch, .traceparent,
    ].map(\.rawName).joined(separator: ", ")

    init(isAllowed: Bool, common: HTTPFields) { (self.isAllowed, self.common) = (isAllowed, common) }

    /// A 204 with the methods of the route.
    func check(_ context: RequestContext) -> Outcome? {
        guard isAllowed, context.method == .options, context.bodyLength == 0, !context.route.isNone else {
            return nil
        }
        var fields = common
        fields.append(.accessControlAllowMethods, context.route.allow)
        fields.append(.accessControlAllowHeaders, Self.allowed)
        fields.append(.accessControlMaxAge, String(Self.maximumAge))
        return Outcome(response: HTTPResponse(status: .noContent, headerFields: fields))
    }
}
