import Coordination
import Glibc

/// A process that has loaded all libraries but read no input; workers are copies of it.
///
/// A copy starts in a fraction of the time of a new program, and shares all memory that neither process changes. All
/// copies have the same addresses, so a template is replaced when an attacker may know them, and also periodically.
///
/// A template is used by one thread and ends with it; ``markExposed()`` may be called on any thread.
final class WorkerTemplate: Sendable {
    let id: pid_t
    private let socket: MessageSocket
    private let start = SystemTimekeeper().now
    private let state = Locked((copies: 0, isExposed: false))

    static let maximumCopies = 64
    static let maximumAge = Duration.seconds(3_600)
    /// In milliseconds; a copy takes less than one.
    private static let timeLimit: CInt = 1_000

    init(id: pid_t, socket: MessageSocket) {
        self.id = id
        self.socket = socket
    }

    func copy(_ end: MessageSocket) -> pid_t? {
        guard socket.send(TemplateProcess.request, descriptors: [end.descriptor]),
            socket.wait(milliseconds: Self.timeLimit),
            case .copied(let process) = WorkerResponse(socket.receive(count: WorkerResponse.byteCount)), process > 0
        else { return nil }
        state.withLock { $0.copies += 1 }
        return process
    }

    func markExposed() { state.withLock { $0.isExposed = true } }

    var isExposed: Bool { state.withLock { $0.isExposed } }

    var copies: Int { state.withLock { $0.copies } }

    var isUsedUp: Bool {
        isExposed || copies >= Self.maximumCopies || SystemTimekeeper().now - start > Self.maximumAge
    }

    func end() { _ = WorkerEnd(killing: id) }
}
