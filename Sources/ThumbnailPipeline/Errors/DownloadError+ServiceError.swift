import Coordination
package import Downloading
package import HTTPTypes

extension DownloadError: ServiceError {
    package var status: HTTPResponse.Status {
        switch self {
        case .sourceNotAllowed, .noAddress: .forbidden
        case .unreachable, .protocolError, .notAsked, .tls, .tooManyRedirects, .status: .badGateway
        case .notFound: .notFound
        case .timedOut, .notCached: .gatewayTimeout
        case .tooLarge: .contentTooLarge
        case .notAnImage, .emptyBody: .unsupportedMediaType
        case .receiptCancelled: .conflict
        case .queueFull, .memoryFull, .originSuspended, .shuttingDown: .serviceUnavailable
        case .internal: .internalServerError
        }
    }

    package var code: String {
        switch self {
        case .sourceNotAllowed, .noAddress: "source_not_allowed"
        case .unreachable: "origin_unreachable"
        case .protocolError, .notAsked: "origin_protocol_error"
        case .tls: "origin_tls_error"
        case .tooManyRedirects: "too_many_redirects"
        case .status: "origin_error"
        case .notFound: "source_not_found"
        case .timedOut: "origin_timeout"
        case .tooLarge: "source_too_large"
        case .notAnImage, .emptyBody: "not_an_image"
        case .receiptCancelled: "cancelled"
        case .queueFull, .memoryFull: "overloaded"
        case .originSuspended: "origin_suspended"
        case .shuttingDown: "draining"
        case .notCached: "not_cached"
        case .internal: "internal"
        }
    }

    package var publicMessage: String {
        switch self {
        case .sourceNotAllowed, .noAddress: Self.refusal
        case .unreachable: "The source's origin could not be reached."
        case .protocolError, .notAsked: "The source's origin did not answer with valid HTTP, or cut its answer short."
        case .tls: "The source's origin could not be trusted."
        case .tooManyRedirects: "The source's origin redirected too often, or in a circle."
        case .status(let status): "The source's origin answered with status \(status)."
        case .notFound: "The source's origin has no such image."
        case .timedOut: "The source's origin did not answer in time."
        case .tooLarge: "The source is larger than the service takes."
        case .notAnImage: "The source's content type is not that of an image."
        case .emptyBody: "The source is empty."
        case .receiptCancelled: "This request's download was cancelled by an operator."
        case .queueFull: "Too many downloads are waiting; try again shortly."
        case .memoryFull: MemoryBudget.Full().publicMessage
        case .originSuspended: "The source's origin keeps failing and is left alone for a while."
        case .shuttingDown: "The service is shutting down."
        case .notCached: "The thumbnail could only be made by asking the source's origin, which the request rules out."
        case .internal: "Something went wrong inside the service."
        }
    }

    package var logDetail: String? {
        switch self {
        case .sourceNotAllowed(let detail), .unreachable(let detail), .noAddress(let detail),
            .protocolError(let detail), .notAsked(let detail),
            .tls(let detail),
            .internal(let detail),
            .notAnImage(let detail):
            detail
        case .status(let status), .notFound(let status): "the origin answered \(status)"
        default: nil
        }
    }

    /// The message to clients about a source that is not fetched: the same words whatever the reason, or they could
    /// find out which hosts and ports there are inside.
    static let refusal =
        "The source is not fetched: its host is misspelt, has no public address or is not allowed here, or its "
        + "scheme or port is not. The service's log names the rule."

    package var category: ErrorCategory {
        switch self {
        case .sourceNotAllowed, .noAddress: .policy
        case .unreachable, .protocolError, .notAsked, .tls, .tooManyRedirects, .status, .notFound, .tooLarge,
            .originSuspended:
            .origin
        case .timedOut: .timeout
        case .notCached: .request
        case .notAnImage, .emptyBody: .image
        case .receiptCancelled: .cancelled
        case .queueFull, .memoryFull, .shuttingDown: .overload
        case .internal: .internal
        }
    }

    package var retryAfter: Int? {
        switch self {
        case .originSuspended(let seconds): seconds
        case .queueFull, .memoryFull, .shuttingDown: 1
        default: nil
        }
    }
}

extension SourceURLError: ServiceError {
    package var status: HTTPResponse.Status { isFaultOfText ? .badRequest : .forbidden }
    package var code: String { isFaultOfText ? "bad_url" : "source_not_allowed" }
    package var publicMessage: String {
        switch self {
        case .malformed: "The source is neither an absolute http or https URL nor NAME:PATH of a named origin."
        case .dotSegment: "The source's path has a segment that is . or .., escaped or not."
        case .pathNotAllowed, .schemeNotAllowed, .literalNotAllowed: DownloadError.refusal
        }
    }
    package var logDetail: String? { isFaultOfText ? nil : description }
    package var category: ErrorCategory { isFaultOfText ? .request : .policy }
    package var parameter: String? { isFaultOfText ? "url" : nil }

    /// Whether the text is no URL that could be fetched, whatever the policy.
    private var isFaultOfText: Bool { self == .malformed || self == .dotSegment }
}
