/// Whether a shared store is used, and when it is retried: a plain value.
struct StoreHealth {
    /// The state as operators see it.
    enum State: String {
        case up
        /// Connected, but too slow or failing: probed, and not used.
        case suspended
        /// There is no connection, or missed purges are not known yet.
        case down
    }

    private(set) var state = State.down
    private let interval: Duration
    private var failures = 0
    private var nextTry = Duration.zero

    /// The number of consecutive failures that suspends the server.
    static let maximumFailures = 3

    init(interval: Duration) { self.interval = interval }

    /// The time of the next attempt or probe; nil while the server is in use.
    var nextTryAt: Duration? { state == .up ? nil : nextTry }

    /// Returns whether an attempt is due at `now`; the next one is due an interval later.
    mutating func takeTry(at now: Duration) -> Bool {
        guard state != .up, nextTry <= now else { return false }
        nextTry = now + interval
        return true
    }

    /// Records a connection or a probe; `isQuick` decides whether the server is used.
    ///
    /// - Returns: Whether the state has changed.
    mutating func answered(isQuick: Bool) -> Bool {
        let before = state
        state = isQuick ? .up : .suspended
        failures = 0
        return state != before
    }

    mutating func succeeded() { failures = 0 }

    /// Records a failed read.
    ///
    /// - Returns: Whether it suspends the server.
    mutating func failed(at now: Duration) -> Bool {
        guard state == .up else { return false }
        failures += 1
        guard failures >= Self.maximumFailures else { return false }
        state = .suspended
        nextTry = now + interval
        return true
    }

    /// Records a lost connection, which is retried at once if it was in use.
    ///
    /// - Returns: Whether the state has changed.
    mutating func lost(at now: Duration) -> Bool {
        guard state != .down else { return false }
        nextTry = state == .up ? now : max(nextTry, now)
        state = .down
        return true
    }
}

/// Whether a place accepts writes, and when a full one is retried: a plain value.
struct WriteHealth {
    enum Change {
        case full, rejected, again
    }

    /// Whether it has no room.
    private(set) var isFull = false
    private var isRefused = false
    private var nextTry = Duration.zero

    private static let interval = Duration.seconds(10)

    /// Returns whether a write may be sent; for a full place, one per interval.
    mutating func mayWrite(at now: Duration) -> Bool {
        guard isFull else { return true }
        guard nextTry <= now else { return false }
        nextTry = now + Self.interval
        return true
    }

    /// Records the end of a write.
    ///
    /// - Parameter lacksRoom: Whether it failed because the place is full; nil if it succeeded.
    mutating func ended(lacksRoom: Bool?, at now: Duration) -> Change? {
        defer { isRefused = lacksRoom != nil }
        switch lacksRoom {
        case nil:
            defer { isFull = false }
            return isRefused ? .again : nil
        case true?:
            if !isFull { nextTry = now + Self.interval }
            defer { isFull = true }
            return isFull ? nil : .full
        case false?: return isRefused ? nil : .rejected
        }
    }
}
