package import HTTPTypes

/// With a response for the client and details for the log.
///
/// The errors of modules without HTTP conform in the pipeline, so that the responder needs no switch.
package protocol ServiceError: Error {
    var answer: ErrorAnswer { get }
}

package enum ErrorCategory: String, Sendable {
    case request, policy, origin, image, overload, timeout, cancelled, `internal`
}

package struct ErrorAnswer: Equatable, Sendable {
    package var status: HTTPResponse.Status
    package let code: String
    /// A label with few values.
    package let category: ErrorCategory
    /// A sentence without addresses, library messages or server paths.
    package let message: String
    /// For the log only; nil if `message` is complete.
    package var detail: String?
    package var parameter: String?
    package var allowed: [String]
    /// Closest to an invalid name.
    package var nearest: String?
    package var upstreamStatus: Int?
    /// In seconds.
    package var retryAfter: Int?

    package init(
        _ status: HTTPResponse.Status, _ code: String, _ category: ErrorCategory, _ message: String,
        detail: String? = nil, parameter: String? = nil, allowed: [String] = [], nearest: String? = nil,
        upstreamStatus: Int? = nil, retryAfter: Int? = nil
    ) {
        (self.status, self.code, self.category, self.message) = (status, code, category, message)
        (self.detail, self.parameter, self.allowed, self.nearest) = (detail, parameter, allowed, nearest)
        (self.upstreamStatus, self.retryAfter) = (upstreamStatus, retryAfter)
    }

    package static func overloaded(_ message: String, detail: String? = nil, retryAfter: Int = 1) -> ErrorAnswer {
        ErrorAnswer(.serviceUnavailable, "overloaded", .overload, message, detail: detail, retryAfter: retryAfter)
    }

    package static let shuttingDown = ErrorAnswer(
        .serviceUnavailable, "draining", .overload, "The service is shutting down.", retryAfter: 1)

    package static func `internal`(_ detail: String? = nil) -> ErrorAnswer {
        ErrorAnswer(.internalServerError, "internal", .internal, "Internal error.", detail: detail)
    }
}

extension ServiceError {
    package var status: HTTPResponse.Status { answer.status }
    package var code: String { answer.code }
    package var category: ErrorCategory { answer.category }
    package var publicMessage: String { answer.message }
    package var logDetail: String? { answer.detail }
    package var parameter: String? { answer.parameter }
    package var allowed: [String] { answer.allowed }
    package var nearest: String? { answer.nearest }
    package var upstreamStatus: Int? { answer.upstreamStatus }
    package var retryAfter: Int? { answer.retryAfter }

    /// ``publicMessage``, or for a rejected source the rule that rejects it.
    package var operatorMessage: String {
        guard code == "source_not_allowed", let rule = logDetail else { return publicMessage }
        return "The source is not fetched: \(rule)."
    }
}

/// For metrics that begin with 0.
package enum ErrorCode {
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
