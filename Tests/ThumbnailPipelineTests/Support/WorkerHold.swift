import Coordination
import TestSupport

/// Keeps worker threads busy until it is let go.
final class WorkerHold: Sendable {
    private let gate = ThreadGate()

    /// Takes one thread of `pool`.
    func occupy(_ pool: WorkerPool) {
        let gate = gate
        Task { try await pool.run { _ in gate.pass() } }
    }

    /// Lets the threads go.
    func release() { gate.open() }
}
