/// Whether the server is used, and when it is tried again: a plain value.
struct TierHealth {
    /// As operators see it.
    enum State: String {
        /// In use.
        case up
        /// Connected, but too slow, or failing: probed, and not used.
        case suspended
        /// There is no connection, or the purges that were missed are not known yet.
        case down
    }

    private(set) var state = State.down
    private let interval: Duration
    private var failures = 0
    private var nextTry = Duration.zero

    /// Failures, one after another, after which the server is suspended.
    static let mostFailures = 3

    /// Not tried yet.
    init(interval: Duration) {
        self.interval = interval
    }

    /// When the server is tried or probed next; nil while it is in use.
    var nextTryAt: Duration? { state == .up ? nil : nextTry }

    /// Whether a try is due at `now`; the next one is due an interval later.
    mutating func takeTry(at now: Duration) -> Bool {
        guard state != .up, nextTry <= now else { return false }
        nextTry = now + interval
        return true
    }

    /// Connected, or probed; whether the answer was quick decides what follows.
    ///
    /// - Returns: Whether the state has changed.
    mutating func answered(isQuick: Bool) -> Bool {
        let before = state
        state = isQuick ? .up : .suspended
        failures = 0
        return state != before
    }

    /// A read was answered.
    mutating func succeeded() { failures = 0 }

    /// A read failed.
    ///
    /// - Returns: Whether the server is suspended by that.
    mutating func failed(at now: Duration) -> Bool {
        guard state == .up else { return false }
        failures += 1
        guard failures >= Self.mostFailures else { return false }
        state = .suspended
        nextTry = now + interval
        return true
    }

    /// The connection is lost, and tried again at once if it was in use.
    ///
    /// - Returns: Whether the state has changed.
    mutating func lost(at now: Duration) -> Bool {
        guard state != .down else { return false }
        nextTry = state == .up ? now : max(nextTry, now)
        state = .down
        return true
    }
}
