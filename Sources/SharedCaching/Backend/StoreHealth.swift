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
    private var nextProbe = Duration.zero

    /// The number of consecutive failures that suspend the server.
    static let maximumFailures = 3

    init(interval: Duration) { self.interval = interval }

    /// The time of the next attempt to connect, or of the next probe; nil while the server is in use.
    var nextProbeAt: Duration? { state == .up ? nil : nextProbe }

    mutating func admitProbe(at now: Duration) -> Bool {
        guard state != .up, nextProbe <= now else { return false }
        nextProbe = now + interval
        return true
    }

    /// Records a reply, and returns whether the state has changed; `isQuick` decides whether the server is used.
    mutating func recordProbe(isQuick: Bool) -> Bool {
        let before = state
        state = isQuick ? .up : .suspended
        failures = 0
        return state != before
    }

    mutating func recordSuccess() { failures = 0 }

    /// Records a failure; returns whether it suspends the server.
    mutating func recordFailure(at now: Duration) -> Bool {
        guard state == .up else { return false }
        failures += 1
        guard failures >= Self.maximumFailures else { return false }
        state = .suspended
        nextProbe = now + interval
        return true
    }

    /// Records a lost connection, which is retried immediately if it was in use; returns whether the state has changed.
    mutating func recordLoss(at now: Duration) -> Bool {
        guard state != .down else { return false }
        nextProbe = state == .up ? now : max(nextProbe, now)
        state = .down
        return true
    }
}
