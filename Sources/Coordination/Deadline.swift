/// The time is up.
package struct DeadlineExceeded: Error {
    /// Made by the code that keeps the time.
    package init() {}
}

/// Runs `body`, but no longer than until `deadline`: then it is cancelled and `DeadlineExceeded` thrown.
///
/// Meant for the outermost request only; everything below sees the end of time as cancellation.
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
