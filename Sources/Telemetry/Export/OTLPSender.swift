package import Coordination

/// Sends documents to a collector, one after the other, and again if it cannot take one now (OTLP specification,
/// "OTLP/HTTP Response", "OTLP/HTTP Throttling").
///
/// Only the task that sends waits for it: while a collector is slow or away, nothing else is.
package struct OTLPSender: Sendable {
    /// The collector's answer to one document.
    package enum Reply: Equatable, Sendable {
        /// An HTTP status, and how long the collector wants to be left alone (`Retry-After`).
        case status(Int, retryAfter: Duration? = nil)
        /// No answer within the time, or no connection.
        case none
    }

    /// Posts a document, and returns within `timeLimit`.
    ///
    /// Called in a task, which may be cancelled.
    package typealias Post = @Sendable (_ document: [UInt8], _ timeLimit: Duration) async -> Reply

    /// How often one document is sent at most.
    package static let attempts = 3
    /// Time for one attempt.
    static let timeLimit = Duration.seconds(3)
    /// Time for all that is sent at the end of the service.
    package static let lastTimeLimit = Duration.seconds(2)
    private static let firstPause = Duration.seconds(2)
    /// A collector that asks for a longer pause is asked again after this one.
    private static let longestPause = Duration.seconds(300)

    private let post: Post
    private let timekeeper: any Timekeeper
    private let jitter: @Sendable () -> Double

    /// A sender to the collector behind `post`.
    ///
    /// - Parameters:
    ///   - timekeeper: The clock of the pauses.
    ///   - jitter: Shortens pauses, so that instances do not come back all at once: 1 leaves them as they are.
    ///   - post: Reaches the collector.
    package init(
        timekeeper: any Timekeeper, jitter: @escaping @Sendable () -> Double = { .random(in: 0.5...1) },
        post: @escaping Post
    ) {
        self.timekeeper = timekeeper
        self.jitter = jitter
        self.post = post
    }

    /// Calls `work` in each interval until the task is cancelled, and once more then, with the end of its time.
    package func run(every interval: Duration, _ work: (_ end: Duration?) async -> Void) async {
        var isLast = false
        while !isLast {
            try? await timekeeper.sleep(until: timekeeper.now + interval)
            isLast = Task.isCancelled
            await work(isLast ? timekeeper.now + Self.lastTimeLimit : nil)
        }
    }

    /// Sends a document; again only while the task is not cancelled.
    ///
    /// - Parameter end: When it must be done; nil for no end but that of the attempts.
    /// - Returns: Whether the collector has taken it.
    package func send(_ document: [UInt8], until end: Duration? = nil) async -> Bool {
        var pause = Self.firstPause
        for attempt in 1...Self.attempts {
            let rest = end.map { $0 - timekeeper.now } ?? Self.timeLimit
            guard rest > .zero else { return false }
            var wish: Duration?
            switch await post(document, min(rest, Self.timeLimit)) {
            case .status(200..<300, _): return true
            case .status(429, let retryAfter), .status(502...504, let retryAfter): wish = retryAfter
            case .status: return false
            case .none: break
            }
            guard attempt < Self.attempts, !Task.isCancelled else { return false }
            let wait = wish.map { min($0, Self.longestPause) } ?? pause * jitter()
            guard (try? await timekeeper.sleep(until: timekeeper.now + wait)) != nil else { return false }
            pause *= 2
        }
        return false
    }
}
