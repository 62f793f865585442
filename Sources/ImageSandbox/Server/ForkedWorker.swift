import CLinux
import Coordination
import Glibc
import Recipes

/// A worker that a command forks from itself before it has threads, settings or files.
///
/// It saves loading all libraries a second time, half of the time of one thumbnail. It has the addresses of the
/// command's process, which the service avoids, so it serves one source.
package enum ForkedWorker {
    private static let waiting = Locked<(id: pid_t, socket: MessageSocket)?>(nil)

    /// Call it before anything else; without effect if the system refuses.
    package static func fork() {
        guard let (ours, theirs) = try? MessageSocket.pair() else { return }
        let id = CLinux_fork_worker(theirs.descriptor)
        if id == 0 { SandboxWorker.runForked() }
        if id > 0 { waiting.withLock { $0 = (id, ours) } }
    }

    /// Starts the worker for these formats, or ends it if they are nil; returns nil if there is none.
    static func take(_ limits: WorkerLimits, _ formats: Set<ImageFormat>?) -> (id: pid_t, socket: MessageSocket)? {
        guard let worker = waiting.withLock({ $0.take() }) else { return nil }
        if let formats, worker.socket.send(ForkRequest(limits: limits, formats: formats).message) { return worker }
        _ = WorkerEnd(killing: worker.id)
        return nil
    }
}
