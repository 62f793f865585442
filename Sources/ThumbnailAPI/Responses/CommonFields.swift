import HTTPTypes

struct CommonFields: Sendable {
    /// Responses must not run or load anything.
    static let strictPolicy = "default-src 'none'; sandbox"
    /// A page loads its own files and images in memory, and connects only to its own origin.
    static let pagePolicy =
        "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'"

    /// The fields that CORS does not expose by itself.
    private static let exposed =
        ([
            .eTag, .xRequestID, .serverTiming, .cacheStatus, .retryAfter, .rateLimit, .rateLimitPolicy,
            .contentDisposition,
        ]
        + HTTPField.Name.ownResponseFields).map(\.rawName).joined(separator: ", ")

    let strict: HTTPFields
    let page: HTTPFields

    /// Any site may embed public responses.
    init(allowOrigin: String?) { self.init(resourcePolicy: "cross-origin", allowOrigin: allowOrigin) }

    /// No other site may embed or read responses of the admin listener.
    static let admin = CommonFields(resourcePolicy: "same-origin", allowOrigin: nil)

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

extension HTTPFields {
    /// The fields of an image that is private to this client: other sites may not embed it.
    func restrictedToSite() -> HTTPFields {
        var fields = HTTPFields(filter { $0.name != .crossOriginResourcePolicy })
        fields.append(.crossOriginResourcePolicy, "same-site")
        return fields
    }
}

extension HTTPResponse {
    static func uncached(_ text: String, mediaType: String, common: HTTPFields) -> HTTPResponse {
        var fields = common
        fields.append(.contentType, mediaType)
        fields.append(.cacheControl, "no-store")
        return HTTPResponse(status: .ok, headerFields: fields, body: .text(text))
    }
}
