import Coordination
import Glibc

/// Keeps worker threads busy until it is let go.
final class WorkerHold: Sendable {
    private let isReleased = Locked(false)

    /// Takes one thread of `pool`.
    func occupy(_ pool: WorkerPool) {
        let isReleased = isReleased
        Task {
            try await pool.run { _ in
                while !isReleased.withLock({ $0 }) { usleep(5_000) }
            }
        }
    }

    /// Lets the threads go.
    func release() { isReleased.withLock { $0 = true } }
}
