/// Callbacks of the downloader, on any thread, outside its lock.
package struct DownloadObserver: Sendable {
    package var onFinish: @Sendable (FinishedTransfer) -> Void
    /// A transfer got its slot after this queue time.
    package var onStart: @Sendable (_ slotWait: Duration) -> Void
    /// A caller joined a fetch in progress.
    package var onCollapse: @Sendable () -> Void

    /// A transfer is retried after a refused or stale connection.
    package var onRetry: @Sendable () -> Void

    /// Receives the states of each transfer in order; nil for no reports.
    package var onTransferReport: (@Sendable (TransferReport) -> Void)?
    /// Receives changes of the activity indicator; nil for no reports.
    package var onActivityChange: (@Sendable (_ isActive: Bool) -> Void)?

    package init(
        onFinish: @escaping @Sendable (FinishedTransfer) -> Void = { _ in },
        onStart: @escaping @Sendable (Duration) -> Void = { _ in },
        onCollapse: @escaping @Sendable () -> Void = {}, onRetry: @escaping @Sendable () -> Void = {},
        onTransferReport: (@Sendable (TransferReport) -> Void)? = nil,
        onActivityChange: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.onFinish = onFinish
        self.onStart = onStart
        self.onCollapse = onCollapse
        self.onRetry = onRetry
        self.onTransferReport = onTransferReport
        self.onActivityChange = onActivityChange
    }
}
