/// Limits the total time that a request waits for optional steps.
package final class WaitBudget: Sendable {
    private let spent = Locked(Duration.zero)

    package init() {}

    /// Returns the rest of a limit, which is never negative.
    package func remaining(of limit: Duration) -> Duration { max(.zero, limit - spent.withLock { $0 }) }

    package func spend(_ duration: Duration) { spent.withLock { $0 += max(.zero, duration) } }
}
