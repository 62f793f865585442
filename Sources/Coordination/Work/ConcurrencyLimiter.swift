/// Limits the number of concurrent slow tasks; a waiting task occupies only a queue entry.
///
/// Slow work reserves hundreds of megabytes, which it must not withhold from fast work while it waits.
package final class ConcurrencyLimiter: Sendable {
    private typealias Queue = FairQueue<CheckedContinuation<Void, any Error>>

    private let queue: Locked<Queue>
    private let timekeeper: any Timekeeper

    /// - Parameter maximumWaiting: The number of tasks that may wait; further ones are rejected immediately.
    package init(maximumConcurrency: Int, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()) {
        queue = Locked(Queue(maximumConcurrency: maximumConcurrency, maximumWaiting: maximumWaiting))
        self.timekeeper = timekeeper
    }

    /// Changes the limit; tasks that already wait keep their place.
    package func setMaximumWaiting(_ count: Int) { queue.withLock { $0.maximumWaiting = count } }

    package var maximumConcurrency: Int { queue.withLock { $0.maximumConcurrency } }

    package var runningCount: Int { queue.withLock { $0.runningCount } }

    package func runningCount(of flow: Flow) -> Int { queue.withLock { $0.runningCount(of: flow) } }

    package func waitingCount(of flow: Flow) -> Int { queue.withLock { $0.waitingCount(of: flow) } }

    package var backlog: Backlog { backlog(of: nil) }

    /// - Parameter flow: The flow of the next task; nil to count all waiting tasks.
    package func backlog(of flow: Flow?) -> Backlog {
        let now = timekeeper.now
        return queue.withLock { $0.backlog(of: flow, at: now) }
    }

    /// - Parameters:
    ///   - flow: The flow of the task; flows take turns by cost relative to their weights.
    ///   - queueTimeout: The longest wait. A task that would wait longer is rejected on entry, unless fewer tasks wait
    ///     before it than may run concurrently.
    /// - Throws: ``WorkerPool/Full``, `CancellationError`, or any error of `body`.
    package func run<Value: Sendable>(
        of flow: Flow = .client(0), cost: Duration, queueTimeout: Duration? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        let id = queue.withLock { $0.newID() }
        try await waitToRun(id, of: flow, cost: cost, queueTimeout: queueTimeout)
        defer { finish(id) }
        return try await body()
    }

    private func waitToRun(_ id: Queue.ID, of flow: Flow, cost: Duration, queueTimeout: Duration?) async throws {
        let now = timekeeper.now
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let admission: Queue.Admission? = queue.withLock { queue in
                    if Task.isCancelled { return nil }
                    return queue.enter(
                        id, of: flow, cost: cost, queueTimeout: queueTimeout, at: now, continuation: continuation)
                }
                switch admission {
                case .runs: continuation.resume()
                case .waits: break
                case .replaces(let other): other.resume(throwing: WorkerPool.Full(delay: backlog.delay))
                case .rejected(let delay): continuation.resume(throwing: WorkerPool.Full(delay: delay))
                case nil: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            queue.withLock { $0.leave(id) }?.resume(throwing: CancellationError())
        }
    }

    private func finish(_ id: Queue.ID) {
        let now = timekeeper.now
        queue.withLock { $0.finish(id, at: now) }?.resume()
    }
}
