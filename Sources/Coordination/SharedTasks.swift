/// How a caller took part in shared work.
package enum Participation: Sendable {
    /// It took no part: the value was there.
    case cached
    /// It started the work.
    case started
    /// It joined work that was going on.
    case joined
}

/// Work in flight by key, each piece done once for all callers that ask while it runs.
///
/// The work belongs to no caller: it is a task of its own, started by the first, cancelled when the last waiter has
/// left. Waiters are answered in the order in which they came. The operation itself must put its result into the place
/// that `cached` reads: the flight is forgotten only afterwards, so no caller can slip between the end of the work and
/// its appearance in the cache.
package final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias State = SharedTasksState<Key, Value, CheckedContinuation<Value, any Error>>

    private let state = Locked(State())

    /// No work in flight.
    package init() {}

    /// Whether work for `key` is going on.
    package func contains(_ key: Key) -> Bool { state.withLock { $0.contains(key) } }

    /// How many callers wait for `key`.
    package func waiterCount(for key: Key) -> Int { state.withLock { $0.waiterCount(for: key) } }

    /// Number of pieces of work in flight.
    package var count: Int { state.withLock { $0.count } }

    /// The value for `key`: joins work in flight, else asks `cached`, else starts `operation`.
    ///
    /// - Parameters:
    ///   - key: The key of the work: pieces of work with equal keys are the same.
    ///   - cached: Asked under the registry's lock when no work is in flight; must be quick and call nothing of this
    ///     registry.
    ///   - operation: The work; stores its result in the place that `cached` reads.
    /// - Throws: The operation's error, the same for all waiters; `CancellationError` when the caller itself is
    ///   cancelled.
    package func value(
        for key: Key, cached: () -> Value? = { nil }, operation: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, participation: Participation) {
        try Task.checkCancellation()
        let entrance = state.withLock { state in
            state.enter(key, cached: cached) { generation in
                // Sound under the lock: creating a task only enqueues it.
                Task {
                    let result: Result<Value, any Error>
                    do { result = .success(try await operation()) } catch { result = .failure(error) }
                    self.finish(key, generation, result)
                }
            }
        }
        switch entrance {
        case .cached(let value): return (value, .cached)
        case .started(let ticket): return (try await wait(ticket), .started)
        case .joined(let ticket): return (try await wait(ticket), .joined)
        }
    }

    private func wait(_ ticket: State.Ticket) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = state.withLock({ $0.await(ticket, continuation) }) { continuation.resume(with: result) }
            }
        } onCancel: {
            let departure = state.withLock { $0.leave(ticket) }
            departure.abandoned?.cancel()
            departure.continuation?.resume(throwing: CancellationError())
        }
    }

    private func finish(_ key: Key, _ generation: UInt64, _ result: Result<Value, any Error>) {
        let waiters = state.withLock { $0.finish(key, generation, result) }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
