package struct DeadlineExceeded: Error {
    package init() {}
}

/// Cancels `body` at `deadline` and throws `DeadlineExceeded`.
///
/// Meant for the outermost request only; everything below sees the deadline as cancellation.
package func withDeadline<Value: Sendable>(
    _ deadline: Duration, by timekeeper: any Timekeeper, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await timekeeper.sleep(until: deadline)
            throw DeadlineExceeded()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
