/// Counts the time that one request has waited for something that it can do without, so that several waits together
/// have one bound.
package final class WaitAllowance: Sendable {
    private let spent = Locked(Duration.zero)

    /// Nothing is spent yet.
    package init() {}

    /// The rest of `limit`; never negative.
    package func remaining(of limit: Duration) -> Duration { max(.zero, limit - spent.withLock { $0 }) }

    /// Adds a wait to the time spent; negative durations count as zero.
    package func spend(_ duration: Duration) { spent.withLock { $0 += max(.zero, duration) } }
}
