import Coordination
package import Downloading
import HTTPTypes
package import ThumbnailTypes

extension DownloadError: ServiceError {
    /// Seconds in `Retry-After`.
    private static let retryWhenHeld = 30
    /// The same text for every reason, so that it does not reveal internal hosts and ports.
    static let rejection =
        "The source's URL is not allowed, or its host has no public address. The service's log names the rule."

    package var response: ErrorResponse {
        switch self {
        case .sourceNotAllowed(let detail), .noAddress(let detail):
            ErrorResponse(
                .forbidden, code: .sourceNotAllowed, category: .policy, message: Self.rejection, detail: detail)
        case .unreachable(let detail):
            ErrorResponse(
                .badGateway, code: .originUnreachable, category: .origin, message: "The origin cannot be reached.",
                detail: detail)
        case .protocolError(let detail):
            ErrorResponse(
                .badGateway, code: .originProtocolError, category: .origin,
                message: "The origin's response is not valid HTTP, or is truncated.", detail: detail)
        case .unexpectedResponse(let detail):
            ErrorResponse(
                .badGateway, code: .originProtocolError, category: .origin,
                message: "The origin's response does not match the request.", detail: detail)
        case .undecodable(let detail):
            ErrorResponse(
                .badGateway, code: .originProtocolError, category: .origin,
                message: "The source's Content-Encoding cannot be decoded.", detail: detail)
        case .tls(let detail):
            ErrorResponse(
                .badGateway, code: .originTLSError, category: .origin,
                message: "The origin's TLS certificate is not trusted, or TLS failed.", detail: detail)
        case .tooManyRedirects:
            ErrorResponse(
                .badGateway, code: .tooManyRedirects, category: .origin,
                message: "Too many redirects.")
        case .status(let status): Self.response(to: status)
        case .storeRejection(let status, let code): Self.response(to: status, code: code)
        case .accessDenied(let status, let challenge):
            status == 401
                ? ErrorResponse(
                    .unauthorized, code: .sourceUnauthorized, category: .origin,
                    message: "The origin requires credentials.", upstreamStatus: status, challenge: challenge)
                : ErrorResponse(
                    .forbidden, code: .sourceForbidden, category: .origin,
                    message: "The origin denied this client access to the source.", upstreamStatus: status)
        case .notFound(let status):
            ErrorResponse(
                .notFound, code: .sourceNotFound, category: .origin, message: "The origin has no such image.",
                detail: "the origin responded with \(status)", upstreamStatus: status)
        case .timedOut:
            ErrorResponse(
                .gatewayTimeout, code: .originTimeout, category: .timeout,
                message: "The origin did not respond in time.")
        case .tooLarge:
            ErrorResponse(
                .contentTooLarge, code: .sourceTooLarge, category: .origin,
                message: "The source exceeds maxSourceBytes.")
        case .notAnImage(let detail):
            ErrorResponse(
                .unsupportedMediaType, code: .notAnImage, category: .image,
                message: "The source's Content-Type is not an image type.", detail: detail)
        case .emptyBody:
            ErrorResponse(.unsupportedMediaType, code: .notAnImage, category: .image, message: "The source is empty.")
        case .receiptCanceled:
            ErrorResponse(
                .conflict, code: .canceled, category: .canceled,
                message: "This request's download was canceled by an operator.")
        case .queueFull: .overloaded("Too many downloads are waiting; try again shortly.")
        case .memoryFull: MemoryBudget.Full().response
        case .originSuspended(let seconds):
            ErrorResponse(
                .serviceUnavailable, code: .originSuspended, category: .origin,
                message: "The origin keeps failing; requests to it are suspended.", retryAfter: seconds)
        case .originHeld:
            ErrorResponse(
                .serviceUnavailable, code: .originHeld, category: .origin,
                message: "An operator has paused requests to this origin.", retryAfter: Self.retryWhenHeld)
        case .shuttingDown: .shuttingDown
        case .notCached:
            ErrorResponse(
                .gatewayTimeout, code: .notCached, category: .request,
                message: "The thumbnail is not cached (Cache-Control: only-if-cached).")
        case .internal(let detail): .internal(detail)
        }
    }

    private static func response(to status: Int, code: String? = nil) -> ErrorResponse {
        ErrorResponse(
            .badGateway, code: .originError, category: .origin, message: "The origin responded with status \(status).",
            detail: "the origin responded with \(status)" + (code.map { ", \($0)" } ?? ""), upstreamStatus: status)
    }
}

extension ClientFields.TooLong: ServiceError {
    package var response: ErrorResponse {
        ErrorResponse(
            .requestHeaderFieldsTooLarge, code: .headersTooLarge, category: .request,
            message: "The origin would receive more than \(ClientFields.maximumLength) bytes in the field \(name).")
    }
}

extension SourceURLError: ServiceError {
    package var response: ErrorResponse {
        func badURL(_ message: String) -> ErrorResponse {
            ErrorResponse(.badRequest, code: .badURL, category: .request, message: message, parameter: "url")
        }
        return switch self {
        case .malformed: badURL("The source is neither an absolute http or https URL nor NAME:PATH of a named origin.")
        case .dotSegment: badURL("The source's path must not contain . or .. segments, even escaped.")
        case .pathNotAllowed, .schemeNotAllowed, .literalNotAllowed:
            DownloadError.sourceNotAllowed(description).response
        }
    }
}
