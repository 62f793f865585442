import Coordination
package import Downloading
import HTTPTypes
package import ThumbnailTypes

extension DownloadError: ServiceError {
    package var answer: ErrorAnswer {
        switch self {
        case .sourceNotAllowed(let detail), .noAddress(let detail):
            ErrorAnswer(.forbidden, "source_not_allowed", .policy, Self.refusal, detail: detail)
        case .unreachable(let detail):
            ErrorAnswer(.badGateway, "origin_unreachable", .origin, "The origin cannot be reached.", detail: detail)
        case .protocolError(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The origin's response is not valid HTTP, or is truncated.", detail: detail)
        case .unexpectedResponse(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The origin's response does not match the request.", detail: detail)
        case .undecodable(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The source's Content-Encoding cannot be decoded.", detail: detail)
        case .tls(let detail):
            ErrorAnswer(
                .badGateway, "origin_tls_error", .origin, "The origin's TLS certificate is not trusted, or TLS failed.",
                detail: detail)
        case .tooManyRedirects:
            ErrorAnswer(
                .badGateway, "too_many_redirects", .origin,
                "The origin redirects too often, or in a loop.")
        case .status(let status): Self.answer(to: status)
        case .storeRefusal(let status, let code): Self.answer(to: status, ", \(code)")
        case .notFound(let status):
            ErrorAnswer(
                .notFound, "source_not_found", .origin, "The origin has no such image.",
                detail: "the origin responded with \(status)", upstreamStatus: status)
        case .timedOut:
            ErrorAnswer(.gatewayTimeout, "origin_timeout", .timeout, "The origin did not respond in time.")
        case .tooLarge:
            ErrorAnswer(.contentTooLarge, "source_too_large", .origin, "The source exceeds maxSourceBytes.")
        case .notAnImage(let detail):
            ErrorAnswer(
                .unsupportedMediaType, "not_an_image", .image, "The source's Content-Type is not an image type.",
                detail: detail)
        case .emptyBody: ErrorAnswer(.unsupportedMediaType, "not_an_image", .image, "The source is empty.")
        case .receiptCancelled:
            ErrorAnswer(.conflict, "cancelled", .cancelled, "This request's download was canceled by an operator.")
        case .queueFull: .overloaded("Too many downloads are waiting; try again shortly.")
        case .memoryFull: MemoryBudget.Full().answer
        case .originSuspended(let seconds):
            ErrorAnswer(
                .serviceUnavailable, "origin_suspended", .origin,
                "The origin keeps failing; requests to it are suspended.", retryAfter: seconds)
        case .shuttingDown: .shuttingDown
        case .notCached:
            ErrorAnswer(
                .gatewayTimeout, "not_cached", .request,
                "The thumbnail is not cached, and the request has only-if-cached.")
        case .internal(let detail): .internal(detail)
        }
    }

    private static func answer(to status: Int, _ code: String = "") -> ErrorAnswer {
        ErrorAnswer(
            .badGateway, "origin_error", .origin, "The origin responded with status \(status).",
            detail: "the origin responded with \(status)\(code)", upstreamStatus: status)
    }

    /// The same for every reason, so that it does not reveal internal hosts and ports.
    static let refusal =
        "The source is not fetched: its host is misspelt, has no public address or is not allowed here, or its "
        + "scheme or port is not. The service's log names the rule."
}

extension SourceURLError: ServiceError {
    package var answer: ErrorAnswer {
        func badURL(_ message: String) -> ErrorAnswer {
            ErrorAnswer(.badRequest, "bad_url", .request, message, parameter: "url")
        }
        return switch self {
        case .malformed: badURL("The source is neither an absolute http or https URL nor NAME:PATH of a named origin.")
        case .dotSegment: badURL("The source's path has a segment that is . or .., escaped or not.")
        case .pathNotAllowed, .schemeNotAllowed, .literalNotAllowed:
            DownloadError.sourceNotAllowed(description).answer
        }
    }
}
