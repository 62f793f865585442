/// A fixed number of threads for work that computes or blocks, with a bounded queue.
///
/// Swift's cooperative threads must never decode images, because all requests and timers share them. Jobs of one
/// priority start in order of arrival. A job canceled while queued never starts; a running one learns of it from its
/// ``WorkToken``.
package final class WorkerPool: Sendable {
    package struct Full: Error, Equatable {
        package let delay: Duration

        package init(delay: Duration = .zero) { self.delay = delay }
    }

    package struct Stopped: Error {
        /// Public because code behind a pool rejects work with the same error.
        package init() {}
    }

    package enum Priority: Int, Sendable, CaseIterable {
        case finishing
        case starting
    }

    private struct Job {
        let id: UInt64
        let priority: Priority
        let queuedAt: Duration
        let token: WorkToken
        /// Runs the job, and returns the function that resumes its caller.
        let run: (_ isCancelled: Bool) -> () -> Void
    }

    private struct State {
        /// The number of queued jobs; further ones are rejected with ``Full``.
        var maximumQueued: Int
        var queues = [Deque<Job>](repeating: Deque(), count: Priority.allCases.count)
        var nextID: UInt64 = 0
        var isStopped = false
        var running: [UInt64: WorkToken] = [:]
        var estimate = DelayEstimate()
        var waitingSince: Duration?

        var queuedCount: Int { queues.reduce(0) { $0 + $1.count } }

        /// Returns the delay, which is at least the time for which a job ahead has already waited.
        func delay(of priority: Priority, threads: Int, at now: Duration) -> Duration {
            let longest = queues[...priority.rawValue].compactMap(\.first).map { now - $0.queuedAt }.max() ?? .zero
            return max(longest, estimate.delay(of: priority, behind: queues.map(\.count), threads: threads))
        }
    }

    private let state: ConditionGuarded<State>
    private let threads = Locked<[WorkThread]>([])
    package let threadCount: Int
    private let timekeeper: any Timekeeper
    private let onThreadExit: @Sendable () -> Void

    /// - Parameters:
    ///   - maximumQueued: The number of queued jobs; further ones are rejected with ``Full``.
    ///   - name: The name of the threads, up to 15 bytes.
    ///   - onThreadExit: Called on each thread before it ends.
    package init(
        count: Int, maximumQueued: Int, name: String, timekeeper: any Timekeeper = SystemTimekeeper(),
        onThreadExit: @escaping @Sendable () -> Void = {}
    ) {
        precondition(
            count > 0 && maximumQueued >= 0,
            "a pool has at least one thread, and the length of its queue is not negative")
        threadCount = count
        state = ConditionGuarded(State(maximumQueued: maximumQueued))
        self.timekeeper = timekeeper
        self.onThreadExit = onThreadExit
        do {
            for _ in 0..<count {
                let thread = try WorkThread(named: name) { self.runJobs() }
                threads.withLock { $0.append(thread) }
            }
        } catch {
            preconditionFailure("cannot start a worker thread: error \(error.systemError)")
        }
    }

    package func setMaximumQueued(_ count: Int) { state.withLock { $0.maximumQueued = count } }

    /// Cancels queued and running jobs, and waits until the threads end.
    package func shutDown() {
        let (wasStopped, queued, interrupted) = state.withLock { state in
            let queued = state.queues.flatMap(\.elements)
            for priority in Priority.allCases { state.queues[priority.rawValue] = Deque() }
            self.state.wakeAll()
            defer { state.isStopped = true }
            return (state.isStopped, queued, Array(state.running.values))
        }
        for job in queued { job.run(true)() }
        for token in interrupted { token.cancel() }
        guard !wasStopped else { return }
        for thread in threads.withLock({ $0 }) { thread.blockingJoin() }
    }

    package var runningCount: Int { state.withLock { $0.running.count } }

    package var queuedCount: Int { state.withLock { $0.queuedCount } }

    /// The work ahead of a job that would be submitted now.
    package var backlog: Backlog {
        let now = timekeeper.now
        return state.withLock { state in
            Backlog(
                count: state.queuedCount, delay: state.delay(of: .starting, threads: threadCount, at: now),
                age: state.waitingSince.map { now - $0 } ?? .zero)
        }
    }

    /// - Parameters:
    ///   - timeLimit: The maximum running time; the job stops when it checks the token.
    ///   - queueTimeout: The longest wait. A job that would wait longer is rejected on entry, unless fewer jobs wait
    ///     before it than there are threads.
    ///   - body: The job, which should check its token between steps.
    /// - Throws: ``Full``, ``Stopped``, `CancellationError`, or any error of `body`.
    package func run<Value: Sendable>(
        priority: Priority = .starting, timeLimit: Duration? = nil, queueTimeout: Duration? = nil,
        _ body: @escaping @Sendable (WorkToken) throws -> Value
    ) async throws -> Value {
        let token = WorkToken()
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let job = Job(id: id, priority: priority, queuedAt: timekeeper.now, token: token) { isCancelled in
                    if isCancelled { return { continuation.resume(throwing: CancellationError()) } }
                    token.start(timeLimit: timeLimit)
                    let result = Result { try body(token) }
                    return { continuation.resume(with: result) }
                }
                if let rejection = enqueue(job, queueTimeout: queueTimeout) { continuation.resume(throwing: rejection) }
            }
        } onCancel: {
            token.cancel()
            dequeue(id, priority: priority)?.run(true)()
        }
    }

    /// Queues a job; returns false, without calling `body`, if the queue is full or the pool was shut down.
    ///
    /// - Parameter body: The job; the argument is true if the pool was shut down before the job's turn.
    package func submit(
        priority: Priority = .starting, _ body: @escaping @Sendable (_ isCancelled: Bool) -> Void
    ) -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let job = Job(id: id, priority: priority, queuedAt: timekeeper.now, token: WorkToken()) { isCancelled in
            body(isCancelled)
            return {}
        }
        return enqueue(job, queueTimeout: nil) == nil
    }

    private func enqueue(_ job: Job, queueTimeout: Duration?) -> (any Error)? {
        state.withLock { state in
            if job.token.isCancelled { return CancellationError() }
            if state.isStopped { return Stopped() }
            let count = state.queuedCount
            let delay = state.delay(of: job.priority, threads: threadCount, at: job.queuedAt)
            if count >= state.maximumQueued + max(0, threadCount - state.running.count) { return Full(delay: delay) }
            if let queueTimeout, delay > queueTimeout, count >= threadCount { return Full(delay: delay) }
            if count == 0 { state.waitingSince = job.queuedAt }
            state.queues[job.priority.rawValue].append(job)
            self.state.wakeOne()
            return nil
        }
    }

    private func dequeue(_ id: UInt64, priority: Priority) -> Job? {
        state.withLock { state in
            defer { if state.queuedCount == 0 { state.waitingSince = nil } }
            return state.queues[priority.rawValue].removeFirst { $0.id == id }
        }
    }

    private func runJobs() {
        while let job = blockingNextJob() {
            let start = timekeeper.now
            let resumeCaller = job.run(false)
            let duration = timekeeper.now - start
            // Do this before the caller resumes, so that it finds this thread free.
            state.withLock { state in
                state.running[job.id] = nil
                state.estimate.record(duration, of: job.priority)
            }
            resumeCaller()
        }
        onThreadExit()
    }

    /// Waits for a job; returns nil if the pool was shut down.
    private func blockingNextJob() -> Job? {
        state.blockingWait { state -> Job?? in
            for priority in Priority.allCases {
                guard let job = state.queues[priority.rawValue].popFirst() else { continue }
                state.running[job.id] = job.token
                if state.queuedCount == 0 { state.waitingSince = nil }
                return job
            }
            return state.isStopped ? .some(nil) : nil
        }
    }
}
