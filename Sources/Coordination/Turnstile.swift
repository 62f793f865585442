/// Lets a few tasks at a time do work that takes long; a waiting task holds only its place in a line.
///
/// Work that takes seconds reserves hundreds of megabytes: while it waits for its turn it must not keep them from
/// quick work.
package final class Turnstile: Sendable {
    private typealias Queue = TurnQueue<CheckedContinuation<Void, any Error>>

    private let queue: Locked<Queue>
    private let timekeeper: any Timekeeper

    /// Lets `places` through at a time, at least one.
    ///
    /// - Parameters:
    ///   - places: How many tasks have a turn at a time.
    ///   - maximumWaiting: How many may wait; more are refused at once.
    ///   - timekeeper: The clock that measures waits.
    package init(places: Int, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()) {
        queue = Locked(Queue(places: places, maximumWaiting: maximumWaiting))
        self.timekeeper = timekeeper
    }

    /// How many have a turn at a time.
    package var places: Int { queue.withLock { $0.places } }

    /// How many have a turn at this moment.
    package var turnCount: Int { queue.withLock { $0.turnCount } }

    /// The backlog at this moment.
    package var backlog: Backlog {
        let now = timekeeper.now
        return queue.withLock { $0.backlog(at: now) }
    }

    /// Runs `body` when it is its turn.
    ///
    /// - Parameters:
    ///   - price: How long it should take.
    ///   - patience: Bound on the waiting time, judged now: a task that would wait longer is refused, unless fewer
    ///     tasks wait than have turns.
    /// - Throws: ``WorkerPool/Full``, `CancellationError`, or what `body` throws.
    package func run<Value: Sendable>(
        price: Duration, patience: Duration? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        let id = queue.withLock { $0.newID() }
        try await turn(id, price, patience)
        defer { finish(id) }
        return try await body()
    }

    private func turn(_ id: Queue.ID, _ price: Duration, _ patience: Duration?) async throws {
        let now = timekeeper.now
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = queue.withLock { queue in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    switch queue.enter(id, price: price, patience: patience, at: now, answer: continuation) {
                    case .turn: return .success(())
                    case .waits: return nil
                    case .refused(let delay): return .failure(WorkerPool.Full(delay: delay))
                    }
                }
                if let answer { continuation.resume(with: answer) }
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
