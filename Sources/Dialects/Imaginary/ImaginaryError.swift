import HTTPTypes
import ThumbnailPipeline

/// A failure with the status that the service gives it; all else is Alula's own.
struct ImaginaryError: ServiceError {
    private let underlying: any ServiceError
    let status: HTTPResponse.Status

    /// The answer to a problem.
    static func response(to problem: Problem) -> HTTPResponse {
        guard let status = status(of: problem.error), status != problem.error.status else { return problem.response }
        return Problem(
            ImaginaryError(underlying: problem.error, status: status), requestID: problem.requestID,
            common: problem.common, tellsRules: problem.tellsRules
        ).response
    }

    /// The service's own status of a failure; nil for one that it does not know.
    private static func status(of error: any ServiceError) -> HTTPResponse.Status? {
        switch error.code {
        case "not_an_image": .notAcceptable
        case "crop_outside", "cannot_decode", "source_not_allowed", "origin_unreachable", "origin_tls_error",
            "origin_protocol_error", "too_many_redirects", "length_required":
            .badRequest
        case "origin_error":
            // An error of the origin's is passed on, and nothing else is.
            error.upstreamStatus.flatMap { 400...511 ~= $0 ? HTTPResponse.Status(code: $0) : nil }
                ?? .serviceUnavailable
        default: nil
        }
    }

    var code: String { underlying.code }
    var publicMessage: String { underlying.publicMessage }
    var logDetail: String? { underlying.logDetail }
    var category: ErrorCategory { underlying.category }
    var parameter: String? { underlying.parameter }
    var allowed: [String] { underlying.allowed }
    var nearest: String? { underlying.nearest }
    var upstreamStatus: Int? { underlying.upstreamStatus }
    var retryAfter: Int? { underlying.retryAfter }
}
