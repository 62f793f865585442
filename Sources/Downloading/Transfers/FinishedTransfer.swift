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
        _ identity: SourceIdentity, outcome: DownloadOutcome, error: DownloadError? = nil, receivedBytes: Int,
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
            case .success(.fetched(let copy)) where copy.isConfirmation: (.notModified, nil)
            case .success: (.success, nil)
            case .failure(let error): (DownloadOutcome(error), error)
            }
        self.init(
            identity, outcome: outcome, error: error as? DownloadError, receivedBytes: progress.receivedBytes,
            duration: duration)
        timings = progress.timings
        resumedAt = progress.resumedAt
        timings.total = duration
    }
}
