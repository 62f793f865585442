package import Coordination

/// Sends documents one after another, and retries if the collector is unavailable (OTLP specification, "OTLP/HTTP
/// Response", "OTLP/HTTP Throttling").
///
/// A slow or unreachable collector delays only the sending task.
package struct OTLPSender: Sendable {
    package enum Reply: Equatable, Sendable {
        /// `Retry-After` is the pause that the collector requests.
        case status(Int, retryAfter: Duration? = nil)
        case none
    }

    package typealias Post = @Sendable (_ document: [UInt8], _ timeLimit: Duration) async -> Reply

    package static let attempts = 3
    static let timeLimit = Duration.seconds(3)
    package static let shutdownTimeLimit = Duration.seconds(2)
    private static let firstPause = Duration.seconds(2)
    private static let maximumPause = Duration.seconds(300)
    private let post: Post
    private let timekeeper: any Timekeeper
    private let jitter: @Sendable () -> Double

    /// - Parameter jitter: Shortens pauses, so that instances do not retry in step; 1 leaves them unchanged.
    package init(
        timekeeper: any Timekeeper, jitter: @escaping @Sendable () -> Double = { .random(in: 0.5...1) },
        post: @escaping Post
    ) {
        self.timekeeper = timekeeper
        self.jitter = jitter
        self.post = post
    }

    /// Runs `work` once per interval until the task is canceled, and then a last time with its deadline.
    package func run(every interval: Duration, _ work: (_ end: Duration?) async -> Void) async {
        var isLast = false
        while !isLast {
            try? await timekeeper.sleep(until: timekeeper.now + interval)
            isLast = Task.isCancelled
            await work(isLast ? timekeeper.now + Self.shutdownTimeLimit : nil)
        }
    }

    /// Retries while the task is not canceled.
    ///
    /// - Parameter end: The deadline; nil limits the attempts only.
    /// - Returns: Whether the collector accepted the document.
    package func send(_ document: [UInt8], until end: Duration? = nil) async -> Bool {
        var pause = Self.firstPause
        for attempt in 1...Self.attempts {
            let rest = end.map { $0 - timekeeper.now } ?? Self.timeLimit
            guard rest > .zero else { return false }
            var requestedPause: Duration?
            switch await post(document, min(rest, Self.timeLimit)) {
            case .status(200..<300, _): return true
            case .status(429, let retryAfter), .status(502...504, let retryAfter): requestedPause = retryAfter
            case .status: return false
            case .none: break
            }
            guard attempt < Self.attempts, !Task.isCancelled else { return false }
            let wait = requestedPause.map { min($0, Self.maximumPause) } ?? pause * jitter()
            guard (try? await timekeeper.sleep(until: timekeeper.now + wait)) != nil else { return false }
            pause *= 2
        }
        return false
    }
}
