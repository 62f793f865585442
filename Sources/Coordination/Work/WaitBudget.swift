/// A common bound for all waits of a request for optional things.
package final class WaitBudget: Sendable {
    private let spent = Locked(Duration.zero)

    package init() {}

    /// The rest of a limit, never negative.
    package func remaining(of limit: Duration) -> Duration { max(.zero, limit - spent.withLock { $0 }) }

    package func spend(_ duration: Duration) { spent.withLock { $0 += max(.zero, duration) } }
}
