import Coordination

/// When work on an image gets its turn.
struct WorkScheduler: Sendable {
    let lanes: WorkLanes
    let admission: MissAdmission

    /// Runs `body` at once where the work is small, and else when it is its turn.
    ///
    /// - Parameter patience: Bound on the wait for a turn or a worker; nil for what the lane grants, which `body` is told.
    /// - Throws: `WorkerPool.Full`, or what `body` throws.
    func run<Value: Sendable>(
        _ price: WorkPrice, patience: Duration?, _ body: (_ patience: Duration) async throws -> Value
    ) async throws -> Value {
        let bound = patience ?? admission.patience(in: price.lane)
        guard price.lane == .dear else { return try await body(bound) }
        return try await lanes.turns.run(price: price.sum, patience: bound) {
            // Its small half waits among its like, behind nobody who came later.
            try await body(patience ?? admission.patience(in: .small))
        }
    }
}
