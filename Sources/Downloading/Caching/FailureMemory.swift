import Coordination

/// Remembers recent failures by requested target, so that a failing origin does not receive every request.
struct FailureMemory {
    private let notFoundTime: Duration
    private let failureTime: Duration
    private var memory: BoundedMap<FetchedTarget, DownloadError>

    init(_ configuration: DownloadConfiguration, capacity: Int = 4_096, maximumBytes: Int = 8 << 20) {
        notFoundTime = configuration.notFoundMemory
        failureTime = configuration.failureMemory
        memory = BoundedMap(maximumCount: capacity, maximumWeight: maximumBytes)
    }

    var count: Int { memory.count }

    /// Remembers an error caused by the source or its origin; ignores our own limits.
    mutating func remember(
        _ error: DownloadError, of identity: SourceIdentity, atMost limit: Duration?, at now: Duration
    ) {
        guard let time = time(of: error).map({ min($0, limit ?? $0) }), time > .zero else { return }
        memory.insert(error, for: FetchedTarget(identity), weight: identity.byteCount + 512, until: now + time)
    }

    func failure(of identity: SourceIdentity, at now: Duration) -> DownloadError? {
        memory.peek(FetchedTarget(identity), at: now)
    }

    mutating func forgetTarget(of identity: SourceIdentity) { memory.remove(FetchedTarget(identity)) }

    mutating func forget(_ identity: SourceIdentity) {
        if identity.sharesTargets {
            memory.removeAll { identity.matches($0.key.identity) }
        } else {
            forgetTarget(of: identity)
        }
    }

    mutating func removeAll() { memory.removeAll() }

    private func time(of error: DownloadError) -> Duration? {
        switch error {
        case .notFound: notFoundTime
        case .status, .accessDenied, .storeRejection, .unreachable, .noAddress, .timedOut, .protocolError,
            .unexpectedResponse,
            .undecodable, .tls,
            .tooManyRedirects, .notAnImage, .emptyBody:
            failureTime
        case .sourceNotAllowed, .tooLarge, .receiptCanceled, .queueFull, .memoryFull, .originSuspended, .originHeld,
            .shuttingDown,
            .notCached, .internal:
            nil
        }
    }
}

extension DownloadError {
    /// Whether a stale copy may be served (RFC 5861 section 4).
    var isOriginFailure: Bool {
        switch self {
        case .unreachable, .noAddress, .protocolError, .unexpectedResponse, .undecodable, .tls, .timedOut,
            .originSuspended, .originHeld:
            true
        case .status(let status), .storeRejection(let status, _): status >= 500 || [401, 403, 429].contains(status)
        default: false
        }
    }
}
