/// The downloader's events, for metrics; called on any thread, outside its lock.
package struct DownloadObserver: Sendable {
    /// A transfer has ended in this way, with so many bytes of body received, after this time.
    package var finished: @Sendable (_ outcome: DownloadOutcome, _ receivedBytes: Int, _ duration: Duration) -> Void
    /// A caller joined a flight that was under way.
    package var collapsed: @Sendable () -> Void

    /// A transfer tries again, after a refused connection or over a connection that had gone stale.
    package var retried: @Sendable () -> Void

    /// How each transfer goes, in order; nil if nothing is to be told.
    package var transfer: (@Sendable (TransferReport) -> Void)?
    /// Downloads begin to show as activity, or do so no longer; nil if nothing is to be told.
    package var activity: (@Sendable (_ isActive: Bool) -> Void)?

    /// An observer of these events.
    package init(
        finished: @escaping @Sendable (DownloadOutcome, Int, Duration) -> Void = { _, _, _ in },
        collapsed: @escaping @Sendable () -> Void = {}, retried: @escaping @Sendable () -> Void = {},
        transfer: (@Sendable (TransferReport) -> Void)? = nil, activity: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.finished = finished
        self.collapsed = collapsed
        self.retried = retried
        self.transfer = transfer
        self.activity = activity
    }
}

/// How far a transfer has come.
package struct TransferReport: Sendable, Equatable {
    /// A moment in the life of a transfer.
    package enum State: Sendable, Equatable {
        case started
        /// Bytes have arrived; reported at most four times a second.
        case progress
        case ended(DownloadOutcome)
    }

    /// The source that is downloaded.
    package let identity: SourceIdentity
    /// The moment that is reported.
    package let state: State
    /// Bytes of the body so far.
    package let receivedBytes: Int
    /// The announced length of the body, if there is one.
    package let expectedBytes: Int?

    /// A report of a transfer with this progress.
    init(_ identity: SourceIdentity, _ state: State, _ progress: TransferProgress) {
        self.identity = identity
        self.state = state
        receivedBytes = progress.receivedBytes
        expectedBytes = progress.expectedBytes
    }

    /// Time between two reports of progress.
    static let interval = Duration.milliseconds(250)
}

/// How a transfer ended: a fixed set of labels.
package enum DownloadOutcome: String, Sendable, CaseIterable {
    case success
    case notModified = "not_modified"
    case cancelled
    case notAllowed = "not_allowed"
    case unreachable
    case protocolError = "protocol_error"
    case tlsError = "tls_error"
    case tooManyRedirects = "too_many_redirects"
    case status
    case notFound = "not_found"
    case timedOut = "timeout"
    case tooLarge = "too_large"
    case notAnImage = "not_an_image"
    case suspended
    case failed

    /// The label of a loader's error.
    init(_ error: any Error) {
        guard let error = error as? DownloadError else {
            self = error is CancellationError ? .cancelled : .failed
            return
        }
        switch error {
        case .sourceNotAllowed: self = .notAllowed
        case .unreachable, .noAddress: self = .unreachable
        case .protocolError, .notAsked, .undecodable: self = .protocolError
        case .tls: self = .tlsError
        case .tooManyRedirects: self = .tooManyRedirects
        case .status, .storeRefusal: self = .status
        case .notFound: self = .notFound
        case .timedOut: self = .timedOut
        case .tooLarge: self = .tooLarge
        case .notAnImage, .emptyBody: self = .notAnImage
        case .originSuspended: self = .suspended
        case .receiptCancelled, .shuttingDown: self = .cancelled
        case .queueFull, .memoryFull, .notCached, .internal: self = .failed
        }
    }
}
