enum OriginReport {
    case success
    /// A response below 500 that is not a source.
    case response
    /// A 5xx response; either the source or the origin may be the cause.
    case serverError
    /// A response that failed after its first byte: truncated, too slow, or not HTTP; the origin is reachable.
    case broken
    /// No byte of a response: no connection, no TLS, a reset, or a timeout.
    case noResponse
    /// A transfer that was canceled or ended by one of our limits.
    case inconclusive

    var isFailure: Bool { self == .serverError || self == .noResponse }

    init(_ result: Result<TransferResult, any Error>, hasResponse: Bool) {
        guard case .failure(let error) = result else {
            self = .success
            return
        }
        guard let error = error as? DownloadError else {
            self = .inconclusive
            return
        }
        switch error {
        case .unreachable, .tls, .timedOut: self = hasResponse ? .broken : .noResponse
        case .protocolError: self = .broken
        case .status(let status), .storeRejection(let status, _): self = status >= 500 ? .serverError : .response
        case .notFound, .accessDenied, .unexpectedResponse, .undecodable, .notAnImage, .emptyBody, .tooManyRedirects:
            self = .response
        case .sourceNotAllowed, .noAddress, .tooLarge, .receiptCanceled, .queueFull, .memoryFull, .originSuspended,
            .originHeld, .shuttingDown, .notCached, .internal:
            self = .inconclusive
        }
    }
}

/// A transfer's request to one origin, and its admission.
struct OriginRequest {
    let origin: OriginKey
    /// The requested URL, or the target of a redirect.
    let source: SourceIdentity
    let permit: OriginHealth.Permit
}

struct OriginTestResult: Sendable {
    let source: SourceIdentity
    let report: OriginReport
}
