package struct TransferReport: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case started
        /// Bytes have arrived; reported at most four times a second.
        case progress
        case ended(FinishedTransfer)
    }

    static let interval = Duration.milliseconds(250)

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
}
