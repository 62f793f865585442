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
            ErrorAnswer(
                .badGateway, "origin_unreachable", .origin, "The source's origin could not be reached.", detail: detail)
        case .protocolError(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The source's origin did not answer with valid HTTP, or cut its answer short.", detail: detail)
        case .unexpectedResponse(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The source's origin gave an answer that does not fit the request.", detail: detail)
        case .undecodable(let detail):
            ErrorAnswer(
                .badGateway, "origin_protocol_error", .origin,
                "The source's Content-Encoding cannot be decoded.", detail: detail)
        case .tls(let detail):
            ErrorAnswer(
                .badGateway, "origin_tls_error", .origin, "The source's origin could not be trusted.", detail: detail)
        case .tooManyRedirects:
            ErrorAnswer(
                .badGateway, "too_many_redirects", .origin,
                "The source's origin redirected too often, or in a circle.")
        case .status(let status): Self.answer(to: status)
        case .storeRefusal(let status, let code): Self.answer(to: status, ", \(code)")
        case .notFound(let status):
            ErrorAnswer(
                .notFound, "source_not_found", .origin, "The source's origin has no such image.",
                detail: "the origin answered \(status)", upstreamStatus: status)
        case .timedOut:
            ErrorAnswer(.gatewayTimeout, "origin_timeout", .timeout, "The source's origin did not answer in time.")
        case .tooLarge:
            ErrorAnswer(
                .contentTooLarge, "source_too_large", .origin, "The source is larger than the service takes.")
        case .notAnImage(let detail):
            ErrorAnswer(
                .unsupportedMediaType, "not_an_image", .image, "The source's content type is not that of an image.",
                detail: detail)
        case .emptyBody: ErrorAnswer(.unsupportedMediaType, "not_an_image", .image, "The source is empty.")
        case .receiptCancelled:
            ErrorAnswer(
                .conflict, "cancelled", .cancelled, "This request's download was cancelled by an operator.")
        case .queueFull: .overloaded("Too many downloads are waiting; try again shortly.")
        case .memoryFull: MemoryBudget.Full().answer
        case .originSuspended(let seconds):
            ErrorAnswer(
                .serviceUnavailable, "origin_suspended", .origin,
                "The source's origin keeps failing and is left alone for a while.", retryAfter: seconds)
        case .shuttingDown: .shuttingDown
        case .notCached:
            ErrorAnswer(
                .gatewayTimeout, "not_cached", .request,
                "The thumbnail could only be made by asking the source's origin, which the request rules out.")
        case .internal(let detail): .internal(detail)
        }
    }

    private static func answer(to status: Int, _ code: String = "") -> ErrorAnswer {
        ErrorAnswer(
            .badGateway, "origin_error", .origin, "The source's origin answered with status \(status).",
            detail: "the origin answered \(status)\(code)", upstreamStatus: status)
    }

    /// The message to clients about a source that may not be fetched: the same for every reason, so that it does not
    /// reveal internal hosts and ports.
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
