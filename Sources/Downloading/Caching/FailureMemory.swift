/// Remembers for a short while which sources could not be had, so that an origin in trouble is not asked by everyone.
///
/// Bounded by entries: when full it drops what has run out, and if that is nothing, all.
struct FailureMemory {
    private struct Entry {
        let error: DownloadError
        let until: Duration
    }

    private let notFoundTime: Duration
    private let failureTime: Duration
    private let capacity: Int
    private var entries: [SourceIdentity: Entry] = [:]

    init(_ configuration: DownloadConfiguration, capacity: Int = 4_096) {
        notFoundTime = configuration.notFoundMemory
        failureTime = configuration.failureMemory
        self.capacity = capacity
    }

    /// How many are remembered.
    var count: Int { entries.count }

    /// Remembers a failure of its class's length, or less where the origin's answer said so; others at once forgotten.
    mutating func remember(
        _ error: DownloadError, of identity: SourceIdentity, atMost limit: Duration?, at now: Duration
    ) {
        guard let time = time(of: error).map({ min($0, limit ?? $0) }), time > .zero else { return }
        if entries.count >= capacity, entries[identity] == nil {
            entries = entries.filter { $0.value.until > now }
            if entries.count >= capacity { entries = [:] }
        }
        entries[identity] = Entry(error: error, until: now + time)
    }

    /// The failure that is remembered of a source.
    func failure(of identity: SourceIdentity, at now: Duration) -> DownloadError? {
        entries[identity].flatMap { $0.until > now ? $0.error : nil }
    }

    /// Forgets one source.
    mutating func forget(_ identity: SourceIdentity) { entries[identity] = nil }

    /// Forgets all.
    mutating func removeAll() { entries = [:] }

    /// Nil for what says nothing about the source: our own limits, refusals and ends.
    private func time(of error: DownloadError) -> Duration? {
        switch error {
        case .notFound: notFoundTime
        case .status, .unreachable, .timedOut, .protocolError, .notAsked, .tls, .tooManyRedirects, .notAnImage,
            .emptyBody:
            failureTime
        case .sourceNotAllowed, .tooLarge, .receiptCancelled, .queueFull, .originSuspended, .shuttingDown, .notCached,
            .internal:
            nil
        }
    }
}

extension DownloadError {
    /// Whether a stale copy may stand in (RFC 5861 section 4): the origin failed, it did not say that the source is gone.
    var isOriginTrouble: Bool {
        switch self {
        case .unreachable, .protocolError, .notAsked, .tls, .timedOut, .originSuspended: true
        case .status(let status): status >= 500 || [401, 403, 429].contains(status)
        default: false
        }
    }
}
