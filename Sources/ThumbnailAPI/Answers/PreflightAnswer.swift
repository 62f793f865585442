import HTTPTypes

/// The answer to a browser's question whether a page of the allowed origin may send a request (Fetch standard,
/// "CORS-preflight fetch").
struct PreflightAnswer: Sendable {
    private let common: HTTPFields

    /// Browsers shorten this to their own maximum: Chromium to two hours.
    private static let maximumAge = 86_400

    /// Fields that a page may send: those that the service reads, and that a page cannot send unasked.
    private static let allowed = [
        HTTPField.Name.accept, .alulaSignature, .cacheControl, .contentDigest, .contentType, .ifModifiedSince,
        .ifNoneMatch, .traceparent,
    ].map(\.rawName).joined(separator: ", ")

    /// Answers with the fields that all answers have.
    init(common: HTTPFields) {
        self.common = common
    }

    /// 204 with the methods that the route takes.
    func response(allowing methods: String) -> HTTPResponse {
        var fields = common
        fields.append(.accessControlAllowMethods, methods)
        fields.append(.accessControlAllowHeaders, Self.allowed)
        fields.append(.accessControlMaxAge, String(Self.maximumAge))
        return HTTPResponse(status: .noContent, headerFields: fields)
    }
}
