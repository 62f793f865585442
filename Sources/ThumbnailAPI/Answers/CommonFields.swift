import HTTPTypes

/// The fields that every answer of a listener has, errors included.
struct CommonFields: Sendable {
    /// An answer may neither run nor load anything.
    static let strictPolicy = "default-src 'none'; sandbox"
    /// A page loads its own files and images that it holds itself, and connects to its own origin only.
    static let pagePolicy =
        "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'"

    /// The fields that scripts of the allowed origin may read besides those that they always may.
    private static let exposed =
        ([.eTag, .xRequestID, .serverTiming, .cacheStatus, .retryAfter, .contentDisposition]
        + HTTPField.Name.ownAnswerFields).map(\.rawName).joined(separator: ", ")

    /// Fields of all answers but the pages.
    let strict: HTTPFields
    /// Fields of a page.
    let page: HTTPFields

    /// Fields of the public listener, whose answers any site may embed.
    init(allowOrigin: String?) {
        self.init(resourcePolicy: "cross-origin", allowOrigin: allowOrigin)
    }

    /// Fields of the operators' listener, whose answers no other site may embed or read.
    static let operators = CommonFields(resourcePolicy: "same-origin", allowOrigin: nil)

    private init(resourcePolicy: String, allowOrigin: String?) {
        func fields(policy: String) -> HTTPFields {
            var fields: HTTPFields = [
                .xContentTypeOptions: "nosniff", .contentSecurityPolicy: policy,
                .crossOriginResourcePolicy: resourcePolicy,
            ]
            if let allowOrigin {
                fields.append(.accessControlAllowOrigin, allowOrigin)
                fields.append(.accessControlExposeHeaders, Self.exposed)
            }
            return fields
        }
        strict = fields(policy: Self.strictPolicy)
        page = fields(policy: Self.pagePolicy)
    }
}

extension HTTPResponse {
    /// A 200 with a text that no cache may keep, which adds its fields to the `common` ones.
    static func uncached(_ text: String, mediaType: String, common: HTTPFields) -> HTTPResponse {
        var fields = common
        fields.append(.contentType, mediaType)
        fields.append(.cacheControl, "no-store")
        return HTTPResponse(status: .ok, headerFields: fields, body: .text(text))
    }
}

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
