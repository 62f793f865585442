package import HTTPTypes

/// An error with its response to the client and details for the log.
///
/// The errors of modules without HTTP conform in the pipeline, so that the responder needs no switch.
package protocol ServiceError: Error {
    var response: ErrorResponse { get }
}

package enum ErrorCategory: String, Sendable {
    case request, policy, origin, image, overload, timeout, canceled = "cancelled", `internal`
}

package struct ErrorResponse: Equatable, Sendable {
    package var status: HTTPResponse.Status
    package let code: ErrorCode
    /// A label with few values.
    package let category: ErrorCategory
    /// A sentence without addresses, library messages or server paths.
    package let message: String
    /// A detail for the log only; nil if `message` is complete.
    package var detail: String?
    package var parameter: String?
    package var allowed: [String]
    /// Closest to an invalid name.
    package var nearest: String?
    package var upstreamStatus: Int?
    /// The `WWW-Authenticate` of a private source's origin.
    package var challenge: String?
    /// In seconds.
    package var retryAfter: Int?
    package var rateLimit: RateLimit?

    /// The values of `RateLimit` and `RateLimit-Policy`.
    package struct RateLimit: Equatable, Sendable {
        package let current: String
        package let policy: String

        package init(current: String, policy: String) {
            self.current = current
            self.policy = policy
        }
    }

    package init(
        _ status: HTTPResponse.Status, code: ErrorCode, category: ErrorCategory, message: String,
        detail: String? = nil, parameter: String? = nil, allowed: [String] = [], nearest: String? = nil,
        upstreamStatus: Int? = nil, challenge: String? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.category = category
        self.message = message
        self.detail = detail
        self.parameter = parameter
        self.allowed = allowed
        self.nearest = nearest
        self.upstreamStatus = upstreamStatus
        self.challenge = challenge
        self.retryAfter = retryAfter
    }

    package static func overloaded(_ message: String, detail: String? = nil, retryAfter: Int = 1) -> ErrorResponse {
        ErrorResponse(
            .serviceUnavailable, code: .overloaded, category: .overload, message: message, detail: detail,
            retryAfter: retryAfter)
    }

    package static let shuttingDown = ErrorResponse(
        .serviceUnavailable, code: .draining, category: .overload, message: "The service is shutting down.",
        retryAfter: 1)

    package static func `internal`(_ detail: String? = nil) -> ErrorResponse {
        ErrorResponse(
            .internalServerError, code: .internal, category: .internal, message: "Internal error.", detail: detail)
    }
}

extension ServiceError {
    package var status: HTTPResponse.Status { response.status }
    package var code: String { response.code.rawValue }
    package var category: ErrorCategory { response.category }
    package var publicMessage: String { response.message }
    package var logDetail: String? { response.detail }
    package var parameter: String? { response.parameter }
    package var allowed: [String] { response.allowed }
    package var nearest: String? { response.nearest }
    package var upstreamStatus: Int? { response.upstreamStatus }
    package var retryAfter: Int? { response.retryAfter }

    /// ``publicMessage``, or for a rejected source the rule that rejects it.
    package var operatorMessage: String {
        guard response.code == .sourceNotAllowed, let rule = logDetail else { return publicMessage }
        return "The source is not fetched: \(rule)."
    }
}

package enum ErrorCode: String, CaseIterable, Sendable {
    case badURL = "bad_url", badParameter = "bad_parameter", sizeNotAllowed = "size_not_allowed"
    case tagNotAllowed = "tag_not_allowed", unknownParameter = "unknown_parameter"
    case missingParameter = "missing_parameter", badRequest = "bad_request", sourceNotAllowed = "source_not_allowed"
    case sourceForbidden = "source_forbidden", sourceUnauthorized = "source_unauthorized"
    case badKey = "bad_key", badSignature = "bad_signature", uploadsOff = "uploads_off"
    case callbackNotAllowed = "callback_not_allowed", originNotWritable = "origin_not_writable"
    case unsupportedOption = "unsupported_option", expired, crossSite = "cross_site", requestLoop = "request_loop"
    case sourceNotFound = "source_not_found", noSuchRoute = "no_such_route", noSuchReceipt = "no_such_receipt"
    case noSuchJob = "no_such_job", badBody = "bad_body", badSettings = "bad_settings", lengthRequired =
        "length_required"
    case requestTooLarge = "request_too_large", notJSON = "not_json", methodNotAllowed = "method_not_allowed"
    case requestTimeout = "request_timeout", canceled = "cancelled", sourceTooLarge = "source_too_large"
    case tooLarge = "too_large", uriTooLong = "uri_too_long", notAnImage = "not_an_image"
    case cannotDecode = "cannot_decode", tooManyPixels = "too_many_pixels", noSuchPage = "no_such_page"
    case cropOutside = "crop_outside", nothingMade = "nothing_made", headersTooLarge = "headers_too_large"
    case `internal`, originUnreachable = "origin_unreachable", originProtocolError = "origin_protocol_error"
    case originError = "origin_error", destinationFailed = "destination_failed", originTLSError = "origin_tls_error"
    case rateLimited = "rate_limited", quotaExceeded = "quota_exceeded"
    case tooManyRedirects = "too_many_redirects", overloaded, draining, originSuspended = "origin_suspended"
    case originHeld = "origin_held"
    case originTimeout = "origin_timeout", deadlineExceeded = "deadline_exceeded", notCached = "not_cached"
    case versionNotSupported = "version_not_supported", clientClosed = "client_closed"

    /// The codes whose counters start at 0: all except the one of a disconnected client.
    package static var counted: [ErrorCode] { allCases.filter { $0 != .clientClosed } }
}
