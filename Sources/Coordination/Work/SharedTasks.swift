package enum Participation: Sendable {
    case cached
    case started
    case joined
}

/// Runs one task for all concurrent callers with the same key.
///
/// The task belongs to no caller: the first caller starts it, and it is canceled when the last waiter has left. Waiters
/// resume in order of arrival. The operation must store its result where `cached` reads it: the task is removed only
/// after that, so no caller can miss both the task and the cached value.
package final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias State = SharedTasksState<Key, Value, CheckedContinuation<Value, any Error>>

    private let state = Locked(State())

    package init() {}

    package func contains(_ key: Key) -> Bool { state.withLock { $0.contains(key) } }

    package func waiterCount(for key: Key) -> Int { state.withLock { $0.waiterCount(for: key) } }

    package var count: Int { state.withLock { $0.count } }

    /// Joins a task in progress; otherwise returns `cached`, or starts `operation`.
    ///
    /// - Parameters:
    ///   - cached: Returns a stored value. Called under the registry's lock; must be fast and not call the registry.
    ///   - operation: Computes the value, and stores it where `cached` reads it.
    /// - Throws: The operation's error, the same for all waiters; `CancellationError` if the caller itself is
    ///   canceled.
    package func value(
        for key: Key, cached: () -> Value? = { nil }, operation: @escaping @Sendable () async throws -> Value
    ) async throws -> (value: Value, participation: Participation) {
        try Task.checkCancellation()
        let admission = state.withLock { state in
            state.enter(key, cached: cached) { serial in
                // Safe under the lock: creating a task only enqueues it.
                Task {
                    let result: Result<Value, any Error>
                    do { result = .success(try await operation()) } catch { result = .failure(error) }
                    self.finish(key, serial: serial, with: result)
                }
            }
        }
        switch admission {
        case .cached(let value): return (value, .cached)
        case .started(let ticket): return (try await wait(ticket), .started)
        case .joined(let ticket): return (try await wait(ticket), .joined)
        }
    }

    /// Waits for a task in progress; returns nil if there is none.
    ///
    /// - Throws: The operation's error, or `CancellationError` if the caller itself is canceled.
    package func join(_ key: Key) async throws -> Value? {
        try Task.checkCancellation()
        guard let ticket = state.withLock({ $0.join(key) }) else { return nil }
        return try await wait(ticket)
    }

    private func wait(_ ticket: State.Ticket) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = state.withLock({ $0.wait(for: ticket, continuation: continuation) }) {
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            let departure = state.withLock { $0.leave(ticket) }
            departure.abandoned?.cancel()
            departure.continuation?.resume(throwing: CancellationError())
        }
    }

    private func finish(_ key: Key, serial: UInt64, with result: Result<Value, any Error>) {
        let waiters = state.withLock { $0.finish(key, serial: serial, with: result) }
        for waiter in waiters { waiter.resume(with: result) }
    }
}
