import Synchronization

/// Tells running work whether it should go on: the work asks it between steps, the waiting task sets it.
package final class WorkToken: Sendable {
    private let cancelled = Atomic(false)
    /// Nanoseconds of the monotonic clock; `Int64.max` without a limit.
    private let deadline = Atomic(Int64.max)

    private let limit = Atomic(Int64.max)
    private let writing = Atomic(Int64.max)

    /// A token without a limit.
    package init() {}

    /// No task waits for the result any more.
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The work has run longer than it may.
    package var isExpired: Bool {
        let limit = deadline.load(ordering: .relaxed)
        return limit != .max && SystemTimekeeper().now.nanoseconds >= limit
    }

    /// The work should stop: cancelled or out of time.
    package var shouldStop: Bool { isCancelled || isExpired }

    /// Throws when the work should stop.
    ///
    /// - Throws: `CancellationError` or ``DeadlineExceeded``.
    package func check() throws {
        if isCancelled { throw CancellationError() }
        if isExpired { throw DeadlineExceeded() }
    }

    /// Asks the work to stop.
    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Notes that the work begins to write its result; the first time counts.
    package func beginWriting() {
        _ = writing.compareExchange(
            expected: .max, desired: SystemTimekeeper().now.nanoseconds, ordering: .relaxed)
    }

    /// When the work began to write its result, by the system's monotonic clock; nil before.
    package var writingBegan: Duration? {
        let began = writing.load(ordering: .relaxed)
        return began == .max ? nil : .nanoseconds(began)
    }

    /// How long the work may take, from when it was begun; nil without a limit.
    package var timeLimit: Duration? {
        let limit = limit.load(ordering: .relaxed)
        return limit == .max ? nil : .nanoseconds(limit)
    }

    func start(timeLimit: Duration?) {
        guard let timeLimit else { return }
        limit.store(timeLimit.nanoseconds, ordering: .relaxed)
        deadline.store((SystemTimekeeper().now + timeLimit).nanoseconds, ordering: .relaxed)
    }
}
