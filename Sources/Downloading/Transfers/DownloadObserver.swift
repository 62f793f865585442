/// Callbacks of the downloader, on any thread, outside its lock.
package struct DownloadObserver: Sendable {
    package var finished: @Sendable (FinishedTransfer) -> Void
    /// A transfer got its slot after this queue time.
    package var started: @Sendable (_ slotWait: Duration) -> Void
    /// A caller joined a fetch in progress.
    package var collapsed: @Sendable () -> Void

    /// A transfer is retried after a refused or stale connection.
    package var retried: @Sendable () -> Void

    /// Receives the states of each transfer in order; nil for no reports.
    package var transfer: (@Sendable (TransferReport) -> Void)?
    /// Receives changes of the activity indicator; nil for no reports.
    package var activity: (@Sendable (_ isActive: Bool) -> Void)?

    package init(
        finished: @escaping @Sendable (FinishedTransfer) -> Void = { _ in },
        started: @escaping @Sendable (Duration) -> Void = { _ in },
        collapsed: @escaping @Sendable () -> Void = {}, retried: @escaping @Sendable () -> Void = {},
        transfer: (@Sendable (TransferReport) -> Void)? = nil, activity: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.finished = finished
        self.started = started
        self.collapsed = collapsed
        self.retried = retried
        self.transfer = transfer
        self.activity = activity
    }
}

package struct TransferReport: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case started
        /// Bytes have arrived; reported at most four times a second.
        case progress
        case ended(FinishedTransfer)
    }

    package let identity: SourceIdentity
    package let state: State
    package let receivedBytes: Int
    package let expectedBytes: Int?

    init(_ identity: SourceIdentity, state: State, progress: TransferProgress) {
        self.identity = identity
        self.state = state
        receivedBytes = progress.receivedBytes
        expectedBytes = progress.expectedBytes
    }

    static let interval = Duration.milliseconds(250)
}

package struct FinishedTransfer: Sendable, Equatable {
    package let identity: SourceIdentity
    package let outcome: DownloadOutcome
    /// The loader's error; nil after a cancellation or another error, too.
    package let error: DownloadError?
    package let receivedBytes: Int
    package let duration: Duration
    package var timings = TransferTimings()
    /// The offset at which a second request resumed the body; nil if there was none.
    package var resumedAt: Int?

    package init(
        _ identity: SourceIdentity, _ outcome: DownloadOutcome, error: DownloadError? = nil, receivedBytes: Int,
        duration: Duration
    ) {
        self.identity = identity
        self.outcome = outcome
        self.error = error
        self.receivedBytes = receivedBytes
        self.duration = duration
    }

    init(
        _ identity: SourceIdentity, result: Result<FetchOutcome, any Error>, progress: TransferProgress,
        in duration: Duration
    ) {
        let (outcome, error): (DownloadOutcome, (any Error)?) =
            switch result {
            case .success(let fetched): (fetched.isConfirmation ? .notModified : .success, nil)
            case .failure(let error): (DownloadOutcome(error), error)
            }
        self.init(
            identity, outcome, error: error as? DownloadError, receivedBytes: progress.receivedBytes,
            duration: duration)
        timings = progress.timings
        resumedAt = progress.resumedAt
        timings.total = duration
    }
}

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
    case held
    case failed

    init(_ error: any Error) {
        guard let error = error as? DownloadError else {
            self = error is CancellationError ? .cancelled : .failed
            return
        }
        switch error {
        case .sourceNotAllowed: self = .notAllowed
        case .unreachable, .noAddress: self = .unreachable
        case .protocolError, .unexpectedResponse, .undecodable: self = .protocolError
        case .tls: self = .tlsError
        case .tooManyRedirects: self = .tooManyRedirects
        case .status, .storeRejection, .accessDenied: self = .status
        case .notFound: self = .notFound
        case .timedOut: self = .timedOut
        case .tooLarge: self = .tooLarge
        case .notAnImage, .emptyBody: self = .notAnImage
        case .originSuspended: self = .suspended
        case .originHeld: self = .held
        case .receiptCanceled, .shuttingDown: self = .cancelled
        case .queueFull, .memoryFull, .notCached, .internal: self = .failed
        }
    }
}
