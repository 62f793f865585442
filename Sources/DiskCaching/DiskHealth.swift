/// Determines when a failed file is opened again; the delay grows if the next failure follows soon.
struct DiskHealth {
    private let firstDelay: Duration
    private let maximumDelay: Duration
    private var delay: Duration
    private var retryAt: Duration?
    private var lastRecovery: Duration?

    init(firstDelay: Duration, maximumDelay: Duration) {
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        delay = firstDelay
    }

    var isWorking: Bool { retryAt == nil }

    /// Whether the file is in use, or may be opened again.
    func mayAttempt(at now: Duration) -> Bool { retryAt.map { $0 <= now } ?? true }

    mutating func fail(at now: Duration) {
        if retryAt == nil {
            let isLongAgo = lastRecovery.map { now - $0 > maximumDelay } ?? true
            delay = isLongAgo ? firstDelay : min(delay * 2, maximumDelay)
        } else {
            delay = min(delay * 2, maximumDelay)
        }
        retryAt = now + delay
    }

    mutating func recover(at now: Duration) {
        retryAt = nil
        lastRecovery = now
    }
}
