import HTTPTypes

/// The fields that every answer of a listener carries, errors too.
struct CommonFields: Sendable {
    /// Nothing that we send may run or load anything.
    static let strictPolicy = "default-src 'none'; sandbox"
    /// The page loads its own files and talks to its own origin only.
    static let pagePolicy =
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'"

    /// Fields of all answers but the page.
    let strict: HTTPFields
    /// Fields of the page.
    let page: HTTPFields

    /// Fields of the public listener: what it serves may be embedded anywhere.
    init(allowOrigin: String?) {
        self.init(resourcePolicy: "cross-origin", allowOrigin: allowOrigin)
    }

    /// Fields of the operators' listener: no other site may embed or read what it serves.
    static let operators = CommonFields(resourcePolicy: "same-origin", allowOrigin: nil)

    private init(resourcePolicy: String, allowOrigin: String?) {
        func fields(policy: String) -> HTTPFields {
            var fields: HTTPFields = [
                .xContentTypeOptions: "nosniff", .contentSecurityPolicy: policy,
                .crossOriginResourcePolicy: resourcePolicy,
            ]
            if let allowOrigin { fields.append(.accessControlAllowOrigin, allowOrigin) }
            return fields
        }
        strict = fields(policy: Self.strictPolicy)
        page = fields(policy: Self.pagePolicy)
    }
}
