package import HTTPTypes

/// A failure with a message for the client and details for the log.
///
/// The errors of modules without HTTP conform in the pipeline, so that the responder needs no switch.
package protocol ServiceError: Error {
    var status: HTTPResponse.Status { get }
    /// The stable machine-readable code of the contract.
    var code: String { get }
    /// A sentence for the client: no address, library message or path of the server.
    var publicMessage: String { get }
    /// Details for the log only; nil when `publicMessage` says all.
    var logDetail: String? { get }
    /// Where the fault lies: a bounded label.
    var category: ErrorCategory { get }
    /// The offending parameter of the request.
    var parameter: String? { get }
    /// The values that the offending parameter may have, if they are a closed list.
    var allowed: [String] { get }
    /// The known name that the offending one is nearest to.
    var nearest: String? { get }
    /// The status that the source's origin answered with.
    var upstreamStatus: Int? { get }
    /// Seconds after which trying again makes sense.
    var retryAfter: Int? { get }
}

/// Where the fault of a failure lies.
package enum ErrorCategory: String, Sendable {
    case request, policy, origin, image, overload, timeout, cancelled, `internal`
}

extension ServiceError {
    /// ``publicMessage``, but of a refused source the rule that refuses it: for those who make the rules.
    package var operatorMessage: String {
        guard code == "source_not_allowed", let rule = logDetail else { return publicMessage }
        return "The source is not fetched: \(rule)."
    }

    package var logDetail: String? { nil }
    package var parameter: String? { nil }
    package var allowed: [String] { [] }
    package var nearest: String? { nil }
    package var upstreamStatus: Int? { nil }
    package var retryAfter: Int? { nil }
}

/// The codes of all problems, for metrics that begin with 0.
package enum ErrorCode {
    /// The codes in the order of `openapi.yaml`.
    package static let all = [
        "bad_url", "bad_parameter", "size_not_allowed", "tag_not_allowed", "unknown_parameter", "missing_parameter",
        "bad_request", "source_not_allowed", "bad_key", "bad_signature", "uploads_off", "callback_not_allowed",
        "origin_not_writable", "unsupported_option", "expired", "cross_site", "request_loop", "source_not_found",
        "no_such_route", "no_such_receipt", "no_such_job", "bad_body", "length_required", "request_too_large",
        "not_json", "method_not_allowed", "request_timeout", "cancelled", "source_too_large", "too_large",
        "uri_too_long", "not_an_image", "cannot_decode", "too_many_pixels", "no_such_page", "crop_outside",
        "nothing_made", "headers_too_large", "internal", "origin_unreachable", "origin_protocol_error",
        "origin_error", "destination_failed", "origin_tls_error", "too_many_redirects", "overloaded", "draining",
        "origin_suspended", "origin_timeout", "deadline_exceeded", "not_cached", "version_not_supported",
    ]
}

/// The answer to an error, as its row in a table of errors says it.
package struct ErrorAnswer {
    package let status: HTTPResponse.Status
    package let code: String
    package let category: ErrorCategory
    package let message: String
    package var detail: String?
    package var parameter: String?
    package var retryAfter: Int?

    package init(
        _ status: HTTPResponse.Status, _ code: String, _ category: ErrorCategory, _ message: String,
        detail: String? = nil, parameter: String? = nil, retryAfter: Int? = nil
    ) {
        (self.status, self.code, self.category, self.message) = (status, code, category, message)
        (self.detail, self.parameter, self.retryAfter) = (detail, parameter, retryAfter)
    }

    package static func overloaded(_ message: String, detail: String? = nil, retryAfter: Int = 1) -> ErrorAnswer {
        ErrorAnswer(.serviceUnavailable, "overloaded", .overload, message, detail: detail, retryAfter: retryAfter)
    }

    package static let shuttingDown = ErrorAnswer(
        .serviceUnavailable, "draining", .overload, "The service is shutting down.", retryAfter: 1)

    package static func `internal`(_ detail: String? = nil) -> ErrorAnswer {
        ErrorAnswer(
            .internalServerError, "internal", .internal, "Something went wrong inside the service.", detail: detail)
    }
}

/// An error whose answer stands in a table.
package protocol TabledError: ServiceError {
    /// The row of the error.
    var answer: ErrorAnswer { get }
}

extension TabledError {
    package var status: HTTPResponse.Status { answer.status }
    package var code: String { answer.code }
    package var category: ErrorCategory { answer.category }
    package var publicMessage: String { answer.message }
    package var logDetail: String? { answer.detail }
    package var parameter: String? { answer.parameter }
    package var retryAfter: Int? { answer.retryAfter }
}
