import Telemetry

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

/// Whether a place takes writes, and when one that has no room is tried again: a plain value.
struct WriteHealth {
    /// A change that the log tells.
    enum News {
        case full, refused, again

        /// Tells it of the result store, or of the shared cache, with the failure.
        func tell(_ logger: Logger, isStore: Bool, _ failure: String?) {
            let detail: Logger.Metadata = ["detail": .string(failure ?? "")]
            switch self {
            case .full:
                logger.warning(isStore ? "result store full, only read" : "shared cache full, only read", detail)
            case .refused:
                logger.warning(isStore ? "result store takes no writes" : "shared cache takes no writes", detail)
            case .again:
                logger.info(isStore ? "result store takes writes again" : "shared cache takes writes again")
            }
        }
    }

    /// Whether it has no room.
    private(set) var isFull = false
    /// Whether the last write was refused.
    private var isRefused = false
    private var nextTry = Duration.zero

    private static let interval = Duration.seconds(10)

    /// Whether a write may be sent; to a place without room, one in each interval.
    mutating func mayWrite(at now: Duration) -> Bool {
        guard isFull else { return true }
        guard nextTry <= now else { return false }
        nextTry = now + Self.interval
        return true
    }

    /// A write has ended.
    ///
    /// - Parameter lacksRoom: Whether it failed for lack of room; nil if it did not fail.
    mutating func ended(lacksRoom: Bool?, at now: Duration) -> News? {
        defer { isRefused = lacksRoom != nil }
        switch lacksRoom {
        case nil:
            defer { isFull = false }
            return isRefused ? .again : nil
        case true?:
            if !isFull { nextTry = now + Self.interval }
            defer { isFull = true }
            return isFull ? nil : .full
        case false?: return isRefused ? nil : .refused
        }
    }
}
