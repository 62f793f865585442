import Coordination

/// How quickly a transfer uses its slot.
struct TransferPace {
    /// A transfer as short as this is never slow.
    private static let grace = Duration.seconds(2)
    /// Bytes a second below which a longer one is.
    private static let leastSpeed = 128 << 10

    private let progress: TransferProgress
    private let start: Duration

    /// The pace of a transfer that has had its slot since `start`.
    init(_ progress: TransferProgress, since start: Duration) {
        self.progress = progress
        self.start = start
    }

    /// Whether it has been silent or slow so far; nil while it is too young to be judged.
    func isSlow(at now: Duration) -> Bool? {
        let age = now - start
        guard age >= Self.grace else { return nil }
        return Double(progress.receivedBytes) < age.seconds * Double(Self.leastSpeed)
    }
}
