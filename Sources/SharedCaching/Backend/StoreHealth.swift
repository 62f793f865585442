struct StoreHealth {
    enum State: String {
        case up
        /// Connected, but too slow or failing: probed, but not used.
        case suspended
        /// Not connected, or missed purges are not known yet.
        case down
    }

    private(set) var state = State.down
    private let interval: Duration
    private var failures = 0
    private var nextTry = Duration.zero

    /// The number of consecutive failures that suspend the server.
    static let maximumFailures = 3

    init(interval: Duration) { self.interval = interval }

    /// The time of the next attempt or probe; nil while the server is in use.
    var nextTryAt: Duration? { state == .up ? nil : nextTry }

    mutating func takeTry(at now: Duration) -> Bool {
        guard state != .up, nextTry <= now else { return false }
        nextTry = now + interval
        return true
    }

    /// Records a reply, and returns whether the state has changed; `isQuick` decides whether the server is used.
    mutating func recordAnswer(isQuick: Bool) -> Bool {
        let before = state
        state = isQuick ? .up : .suspended
        failures = 0
        return state != before
    }

    mutating func succeeded() { failures = 0 }

    /// Records a failure; returns whether it suspends the server.
    mutating func recordFailure(at now: Duration) -> Bool {
        guard state == .up else { return false }
        failures += 1
        guard failures >= Self.maximumFailures else { return false }
        state = .suspended
        nextTry = now + interval
        return true
    }

    /// Records a lost connection, which is retried immediately if it was in use; returns whether the state has changed.
    mutating func recordLoss(at now: Duration) -> Bool {
        guard state != .down else { return false }
        nextTry = state == .up ? now : max(nextTry, now)
        state = .down
        return true
    }
}

/// Whether writes succeed, and when a full store is retried; a plain value.
struct WriteHealth {
    enum Change {
        case full, rejected, again
    }

    private(set) var isFull = false
    private var isRejected = false
    private var nextTry = Duration.zero

    private static let interval = Duration.seconds(10)

    mutating func mayWrite(at now: Duration) -> Bool {
        guard isFull else { return true }
        guard nextTry <= now else { return false }
        nextTry = now + Self.interval
        return true
    }

    /// - Parameter lacksRoom: Whether the write failed because the store is full; nil if it succeeded.
    mutating func recordEnd(lacksRoom: Bool?, at now: Duration) -> Change? {
        defer { isRejected = lacksRoom != nil }
        switch lacksRoom {
        case nil:
            defer { isFull = false }
            return isRejected ? .again : nil
        case true?:
            if !isFull { nextTry = now + Self.interval }
            defer { isFull = true }
            return isFull ? nil : .full
        case false?: return isRejected ? nil : .rejected
        }
    }
}
