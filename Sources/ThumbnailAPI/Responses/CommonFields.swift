import HTTPTypes

struct CommonFields: Sendable {
    /// The policy of responses, which must not run or load anything.
    static let strictPolicy = "default-src 'none'; sandbox"
    /// The policy of a page, which loads its own files and images in memory, and connects only to its own origin.
    static let pagePolicy =
        "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'"

    /// Fields that browsers expose to scripts only with permission.
    private static let exposed =
        ([
            .eTag, .xRequestID, .serverTiming, .cacheStatus, .retryAfter, .rateLimit, .rateLimitPolicy,
            .contentDisposition,
        ]
        + HTTPField.Name.ownResponseFields).map(\.rawName).joined(separator: ", ")

    let strict: HTTPFields
    let page: HTTPFields

    /// Creates the fields of public responses, which any site may embed.
    init(allowOrigin: String?) { self.init(resourcePolicy: "cross-origin", allowOrigin: allowOrigin) }

    /// The fields of the admin listener, whose responses no other site may embed or read.
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
    /// Returns the fields for a private image, which other sites may not embed.
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
