import CLinux
import Coordination
import Glibc
import Recipes

/// A worker that a command forks from itself before it has threads, settings or open files.
///
/// This saves loading all libraries a second time, which is half of the time for one thumbnail. The worker has the same
/// addresses as the command's process, which the service avoids, so it serves only one source.
package enum ForkedWorker {
    private static let pending = Locked<(id: pid_t, socket: MessageSocket)?>(nil)

    /// Forks the worker if the system allows it; call it before anything else.
    package static func fork() {
        guard let (ours, theirs) = try? MessageSocket.pair() else { return }
        let id = CLinux_fork_worker(theirs.descriptor)
        if id == 0 { SandboxWorker.runForked() }
        if id > 0 { pending.withLock { $0 = (id, ours) } }
    }

    /// Starts the worker for these formats, or ends it if they are nil; returns nil if it does not exist.
    static func start(limits: WorkerLimits, formats: Set<ImageFormat>?) -> (id: pid_t, socket: MessageSocket)? {
        guard let worker = pending.withLock({ $0.take() }) else { return nil }
        if let formats, worker.socket.send(ForkRequest(limits: limits, formats: formats).message) { return worker }
        _ = WorkerEnd(killing: worker.id)
        return nil
    }
}
