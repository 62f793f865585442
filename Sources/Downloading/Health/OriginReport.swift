/// The meaning of a transfer's end for the origin where it ended.
enum OriginReport {
    /// The requested source, or a redirect.
    case success
    /// Another valid answer below 500, of any meaning for the source.
    case answer
    /// An answer of 5xx, caused by the source or the origin.
    case serverError
    /// An answer that began and failed: cut short, too slow, not HTTP. The origin is reachable.
    case broken
    /// No byte of an answer: no connection, no TLS, reset, silence.
    case noAnswer
    /// Nothing: cancelled, or ended by a limit of ours.
    case nothing

    /// Whether the origin may be the cause.
    var isFailure: Bool { self == .serverError || self == .noAnswer }

    /// The report of a transfer's end, by whether an answer had begun.
    init(_ result: Result<TransferAnswer, any Error>, hasAnswer: Bool) {
        guard case .failure(let error) = result else {
            self = .success
            return
        }
        guard let error = error as? DownloadError else {
            self = .nothing
            return
        }
        switch error {
        case .unreachable, .tls, .timedOut: self = hasAnswer ? .broken : .noAnswer
        case .protocolError: self = .broken
        case .status(let status), .storeRefusal(let status, _): self = status >= 500 ? .serverError : .answer
        case .notFound, .notAsked, .undecodable, .notAnImage, .emptyBody, .tooManyRedirects: self = .answer
        case .sourceNotAllowed, .noAddress, .tooLarge, .receiptCancelled, .queueFull, .memoryFull, .originSuspended,
            .shuttingDown, .notCached, .internal:
            self = .nothing
        }
    }
}

/// The stay of a transfer at an origin: its request there, and its pass.
struct OriginVisit {
    let origin: OriginKey
    /// The URL that led there: the request's own, or the target of a redirect.
    let source: SourceIdentity
    let pass: OriginHealth.Pass
}

/// The result of one source of an inquiry.
struct OriginFinding: Sendable {
    let source: SourceIdentity
    /// The report of its transfer's end.
    let report: OriginReport
}
