import Coordination
import TestSupport

/// Blocks worker threads until it is released.
final class WorkerHold: Sendable {
    private let gate = ThreadGate()
    private let tasks = Locked<[Task<Void, any Error>]>([])

    /// Blocks one thread of `pool`.
    func occupy(_ pool: WorkerPool) {
        let gate = gate
        let task = Task { try await pool.run { _ in gate.pass() } }
        tasks.withLock { $0.append(task) }
    }

    /// Waits until this number of threads is blocked.
    func arrivals(_ count: Int) async { await gate.arrivals(count) }

    func release() { gate.open() }

    /// Waits until the released threads are free for other work.
    func ended() async {
        for task in tasks.withLock({ $0 }) { _ = await task.result }
    }
}
