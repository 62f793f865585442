/// When a store that failed may try its file again: later after each failure that follows soon on the one before.
struct DiskHealth {
    private let first: Duration
    private let longest: Duration
    private var delay: Duration
    private var retryAt: Duration?
    private var lastRecovery: Duration?

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        delay = first
    }

    /// Whether the file is in use.
    var isWorking: Bool { retryAt == nil }

    /// Whether the file may be used, or tried again, at `now`.
    func mayTry(at now: Duration) -> Bool { retryAt.map { $0 <= now } ?? true }

    /// The file failed.
    mutating func fail(at now: Duration) {
        if retryAt == nil {
            let isLongAgo = lastRecovery.map { now - $0 > longest } ?? true
            delay = isLongAgo ? first : min(delay * 2, longest)
        } else {
            delay = min(delay * 2, longest)
        }
        retryAt = now + delay
    }

    /// The file is in use again.
    mutating func recover(at now: Duration) {
        retryAt = nil
        lastRecovery = now
    }
}
