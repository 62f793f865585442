import Synchronization

package final class WorkToken: Sendable {
    private let cancelled = Atomic(false)
    /// In nanoseconds of the monotonic clock; `Int64.max` means no limit.
    private let deadline = Atomic(Int64.max)
    private let limit = Atomic(Int64.max)
    private let writingStart = Atomic(Int64.max)
    /// The processor time of the thread in nanoseconds when writing began.
    private let writingProcessorTime = Atomic(Int64.max)
    /// The processor time of worker processes in nanoseconds.
    private let processTime = Atomic(Int64(0))

    package init() {}

    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    package var isExpired: Bool {
        let limit = deadline.load(ordering: .relaxed)
        return limit != .max && SystemTimekeeper().now.nanoseconds >= limit
    }

    /// Whether the work was canceled or has exceeded its time limit.
    package var shouldStop: Bool { isCancelled || isExpired }

    /// - Throws: `CancellationError` or ``DeadlineExceeded``.
    package func check() throws {
        if isCancelled { throw CancellationError() }
        if isExpired { throw DeadlineExceeded() }
    }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Records that the work begins to write its result; later calls have no effect.
    package func beginWriting() {
        let now = SystemTimekeeper().now.nanoseconds
        guard writingStart.compareExchange(expected: .max, desired: now, ordering: .relaxed).exchanged else { return }
        writingProcessorTime.store(SystemTimekeeper.threadProcessorTime.nanoseconds, ordering: .relaxed)
    }

    /// Adds processor time that a worker process has used for this work.
    package func add(processorTime: Duration) {
        if processorTime > .zero { processTime.add(processorTime.nanoseconds, ordering: .relaxed) }
    }

    package var processorTimeOfProcesses: Duration { .nanoseconds(processTime.load(ordering: .relaxed)) }

    /// The processor time of the thread when it called ``beginWriting()``.
    package var processorTimeAtWriting: Duration? {
        let time = writingProcessorTime.load(ordering: .relaxed)
        return time == .max ? nil : .nanoseconds(time)
    }

    /// The monotonic time of the call to ``beginWriting()``.
    package var writingBegan: Duration? {
        let began = writingStart.load(ordering: .relaxed)
        return began == .max ? nil : .nanoseconds(began)
    }

    /// The time limit from the start of the work; nil means no limit.
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
