import Coordination

struct TransferPace {
    private static let grace = Duration.seconds(2)
    /// Bytes per second below which a longer transfer counts as slow.
    private static let minimumSpeed = 128 << 10

    private let progress: TransferProgress
    private let start: Duration

    init(_ progress: TransferProgress, since start: Duration) {
        self.progress = progress
        self.start = start
    }

    /// Whether the transfer is slow; nil if it is too early to tell.
    func isSlow(at now: Duration) -> Bool? {
        let age = now - start
        guard age >= Self.grace else { return nil }
        return Double(progress.receivedBytes) < age.seconds * Double(Self.minimumSpeed)
    }
}
