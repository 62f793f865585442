import Synchronization

package final class WorkToken: Sendable {
    private let cancelled = Atomic(false)
    /// Nanoseconds of the monotonic clock; `Int64.max` for no limit.
    private let deadline = Atomic(Int64.max)

    private let limit = Atomic(Int64.max)
    private let writing = Atomic(Int64.max)
    /// Nanoseconds of the thread's processor time.
    private let writingProcessor = Atomic(Int64.max)
    private let otherProcessor = Atomic(Int64(0))

    package init() {}

    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    package var isExpired: Bool {
        let limit = deadline.load(ordering: .relaxed)
        return limit != .max && SystemTimekeeper().now.nanoseconds >= limit
    }

    /// Canceled, or past the time limit.
    package var shouldStop: Bool { isCancelled || isExpired }

    /// - Throws: `CancellationError` or ``DeadlineExceeded``.
    package func check() throws {
        if isCancelled { throw CancellationError() }
        if isExpired { throw DeadlineExceeded() }
    }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// The work begins to write its result; the first call counts.
    package func beginWriting() {
        let began = SystemTimekeeper().now.nanoseconds
        guard writing.compareExchange(expected: .max, desired: began, ordering: .relaxed).exchanged else { return }
        writingProcessor.store(SystemTimekeeper.threadProcessorTime.nanoseconds, ordering: .relaxed)
    }

    /// Adds the time that a worker process used.
    package func add(processorTime: Duration) {
        if processorTime > .zero { otherProcessor.add(processorTime.nanoseconds, ordering: .relaxed) }
    }

    package var processorTimeOfProcesses: Duration { .nanoseconds(otherProcessor.load(ordering: .relaxed)) }

    /// The processor time of the thread when it called ``beginWriting()``; nil before.
    package var processorTimeAtWriting: Duration? {
        let time = writingProcessor.load(ordering: .relaxed)
        return time == .max ? nil : .nanoseconds(time)
    }

    /// System's monotonic time; nil before.
    package var writingBegan: Duration? {
        let began = writing.load(ordering: .relaxed)
        return began == .max ? nil : .nanoseconds(began)
    }

    /// The time from the start of the work; nil for no limit.
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
