/// Whether writes succeed, and when a full store is retried; a plain value.
struct WriteHealth {
    enum Result {
        case written, full, rejected
    }

    enum Change {
        case full, rejected, recovered
    }

    private(set) var isFull = false
    private var isRejected = false
    private var nextAttempt = Duration.zero

    private static let interval = Duration.seconds(10)

    mutating func mayWrite(at now: Duration) -> Bool {
        guard isFull else { return true }
        guard nextAttempt <= now else { return false }
        nextAttempt = now + Self.interval
        return true
    }

    mutating func record(_ result: Result, at now: Duration) -> Change? {
        defer {
            isFull = result == .full || isFull && result == .rejected
            isRejected = result != .written
        }
        switch result {
        case .written: return isRejected ? .recovered : nil
        case .full:
            if !isFull { nextAttempt = now + Self.interval }
            return isFull ? nil : .full
        case .rejected: return isRejected ? nil : .rejected
        }
    }
}
