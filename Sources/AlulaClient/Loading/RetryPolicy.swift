/// The rules for retries of a failed load.
///
/// After an error that is ``ClientError/isTransient``, the load is retried after a delay that doubles each time, or
/// after the time that the service states. A load that waits for its next attempt does not occupy a slot.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of retries.
    public var maximumRetries: Int
    /// The delay before the first retry.
    public var initialDelay: Duration
    /// The maximum delay.
    ///
    /// If the service requests a longer delay, there is no retry.
    public var maximumDelay: Duration

    /// Creates a policy.
    public init(
        maximumRetries: Int = 2, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(10)
    ) {
        self.maximumRetries = maximumRetries
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// No retries.
    public static let none = RetryPolicy(maximumRetries: 0)

    /// Returns the delay before the next attempt; nil if there is none.
    ///
    /// - Parameters:
    ///   - error: The error of the last attempt.
    ///   - failures: The number of failures before this one.
    ///   - jitter: A number from 0 to 1 that spreads the attempts of many clients over half of the delay.
    func delay(after error: ClientError, failures: Int, jitter: Double) -> Duration? {
        guard failures < maximumRetries, error.isTransient else { return nil }
        if case .problem(_, .some(let time)) = error { return time <= maximumDelay ? time : nil }
        let doubled = initialDelay / .seconds(1) * Double(1 << min(failures, 30))
        let delay = min(max(0, doubled), maximumDelay / .seconds(1), 1e9)
        return .seconds(delay * (1 - jitter / 2))
    }
}
