/// Sums up the time that a request has waited for optional things, so that its waits have a common bound.
package final class WaitBudget: Sendable {
    private let spent = Locked(Duration.zero)

    package init() {}

    /// Returns the rest of `limit`; never negative.
    package func remaining(of limit: Duration) -> Duration { max(.zero, limit - spent.withLock { $0 }) }

    /// Adds a wait to the time spent; negative durations count as zero.
    package func spend(_ duration: Duration) { spent.withLock { $0 += max(.zero, duration) } }
}
