import CLinux
import Coordination
import Glibc

/// How workers are started.
package struct WorkerLaunch: Sendable {
    /// The executable, which must know the subcommand ``DecodeWorker/command``: that of the service itself.
    package var executable = "/proc/self/exe"
    /// What the kernel grants each.
    package var limits: WorkerLimits
    /// Bytes that a decoder may take beyond twice the price of its picture.
    package var spareMemory = 256 << 20
    /// Longest time from the start to being ready.
    package var timeLimit = Duration.seconds(20)

    /// Workers of this executable.
    package init(executable: String = "/proc/self/exe", limits: WorkerLimits) {
        self.executable = executable
        self.limits = limits
    }

    /// A worker could not be started.
    package struct Failure: Error, CustomStringConvertible {
        /// For logs.
        package let description: String
    }

    /// Starts a worker and waits until it is ready; it ends with the calling thread.
    ///
    /// - Throws: ``Failure``.
    func start() throws(Failure) -> WorkerProcess {
        let (ours, theirs): (MessageSocket, MessageSocket)
        do {
            (ours, theirs) = try MessageSocket.pair()
        } catch {
            throw Failure(description: "\(error)")
        }
        var id: pid_t = 0
        let error = unsafe Self.withStrings([executable, DecodeWorker.command] + limits.arguments) { arguments in
            unsafe Self.withStrings(Self.environment) { environment in
                unsafe CLinux_spawn_worker(executable, arguments, environment, theirs.descriptor, &id)
            }
        }
        guard error == 0 else { throw Failure(description: "posix_spawn: error \(error)") }
        // Its own end is closed here, so that its death is seen.
        _ = consume theirs
        var supervisor: Supervisor?
        let answer: WorkerAnswer?
        do {
            answer = try self.answer(ours, &supervisor, of: id)
        } catch {
            _ = WorkerProcess(id: id, socket: ours).end()
            throw error
        }
        switch answer {
        case .ready(let protections) where protections.isSupervised == (supervisor != nil):
            return WorkerProcess(
                id: id, socket: ours, supervisor: supervisor, protections: protections, spareMemory: spareMemory)
        case .notStarted(let reason):
            _ = WorkerProcess(id: id, socket: ours).end()
            throw Failure(description: "a worker cannot work: \(reason)")
        default:
            throw Failure(description: "a worker was not ready: it \(WorkerProcess(id: id, socket: ours).end())")
        }
    }

    /// What a worker says in the end, and before that, where the kernel asks about it: the only descriptor that the server ever takes
    /// from one, which has seen no file yet.
    private func answer(
        _ socket: MessageSocket, _ supervisor: inout Supervisor?, of process: pid_t
    ) throws(Failure) -> WorkerAnswer? {
        let end = SystemTimekeeper().now + timeLimit
        while true {
            let rest = max(0, (end - SystemTimekeeper().now).seconds)
            switch socket.event(supervisor, milliseconds: CInt(rest * 1_000)) {
            case .forbidden(let call): throw Failure(description: "a worker that starts needs \(call)")
            case .nothing where rest == 0: return nil
            case .nothing: break
            case .word:
                guard let (message, descriptors) = socket.nextMessage(count: WorkerAnswer.byteCount) else { return nil }
                let answer = WorkerAnswer(message)
                guard answer == .supervised, supervisor == nil, descriptors.count == 1 else {
                    for descriptor in descriptors { close(descriptor) }
                    return answer
                }
                supervisor = Supervisor(adopting: descriptors[0], of: process)
            }
        }
    }

    /// Nothing of the service's own environment, which may hold secrets, but where its libraries are.
    private static var environment: [String] {
        // A worker that crashed must end at once, and could start no backtracer.
        // Address space is limited, so what is not used is not kept.
        // Requests are the parallelism: libgomp takes a thread for each processor otherwise, and ends the process where it gets fewer.
        var variables = ["SWIFT_BACKTRACE=enable=no", "MALLOC_CONF=narenas:1,retain:false", "OMP_NUM_THREADS=1"]
        if let path = unsafe getenv("LD_LIBRARY_PATH") {
            variables.append("LD_LIBRARY_PATH=\(unsafe String(cString: path))")
        }
        return variables
    }

    /// Lends texts as C wants them: an array of pointers that ends with none.
    @unsafe
    private static func withStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(&pointers)
    }
}
