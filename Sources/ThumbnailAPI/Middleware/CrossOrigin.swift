import Dialects
import HTTPTypes

/// Answers CORS preflights (Fetch standard, "CORS-preflight fetch").
struct CrossOrigin: RequestCheck {
    private let common: HTTPFields
    private let isAllowed: Bool
    private let allowed: String

    /// In seconds; browsers apply a lower limit, such as two hours in Chromium.
    private static let maximumAge = 86_400

    /// Fields that the service reads and browsers send only with permission.
    private static let read = [
        HTTPField.Name.accept, .alulaSignature, .cacheControl, .contentDigest, .contentType, .ifModifiedSince,
        .ifNoneMatch, .traceparent,
    ]

    /// - Parameter forwardsFields: Whether to allow all fields, because origins receive fields of clients.
    init(isAllowed: Bool, common: HTTPFields, forwardsFields: Bool = false) {
        self.isAllowed = isAllowed
        self.common = common
        allowed =
            (Self.read + (forwardsFields ? [.authorization] : [])).map(\.rawName).joined(separator: ", ")
            + (forwardsFields ? ", *" : "")
    }

    /// Returns a 204 with the methods of the route.
    func check(_ context: RequestContext) -> Outcome? {
        guard isAllowed, context.method == .options, context.bodyLength == 0, !context.route.isNone else { return nil }
        var fields = common
        fields.append(.accessControlAllowMethods, context.route.allow)
        fields.append(.accessControlAllowHeaders, allowed)
        fields.append(.accessControlMaxAge, String(Self.maximumAge))
        return Outcome(response: HTTPResponse(status: .noContent, headerFields: fields))
    }
}
