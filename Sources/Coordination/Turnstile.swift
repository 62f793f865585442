/// Lets few at a time through to work that takes long; who waits holds nothing yet but a place in a line.
///
/// Work that takes seconds reserves memory by the hundred megabytes: those who wait for their turn must not keep it from work
/// that is done in a moment.
package final class Turnstile: Sendable {
    private typealias Queue = TurnQueue<CheckedContinuation<Void, any Error>>

    private let queue: Locked<Queue>
    private let timekeeper: any Timekeeper

    /// Lets `places` through at a time, at least one.
    ///
    /// - Parameters:
    ///   - places: How many have a turn at a time.
    ///   - maximumWaiting: How many may wait; more are refused at once.
    ///   - timekeeper: What waits are told by.
    package init(places: Int, maximumWaiting: Int, timekeeper: any Timekeeper = SystemTimekeeper()) {
        queue = Locked(Queue(places: places, maximumWaiting: maximumWaiting))
        self.timekeeper = timekeeper
    }

    /// How many have a turn at a time.
    package var places: Int { queue.withLock { $0.places } }

    /// How many have a turn at this moment.
    package var turnCount: Int { queue.withLock { $0.turnCount } }

    /// What waits at this moment.
    package var backlog: Backlog {
        let now = timekeeper.now
        return queue.withLock { $0.backlog(at: now) }
    }

    /// Runs `body` when it is its turn.
    ///
    /// - Parameters:
    ///   - price: How long it should take.
    ///   - patience: Bound on the waiting time, judged now: who would wait longer is refused, unless fewer than have turns wait already.
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
