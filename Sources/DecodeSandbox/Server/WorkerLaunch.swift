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
        let answer =
            ours.wait(milliseconds: CInt(timeLimit.seconds * 1_000))
            ? WorkerAnswer(ours.receive(count: WorkerAnswer.byteCount)) : nil
        switch answer {
        case .ready(let protections):
            return WorkerProcess(id: id, socket: ours, protections: protections, spareMemory: spareMemory)
        case .notStarted(let reason):
            _ = WorkerProcess(id: id, socket: ours).end()
            throw Failure(description: "a worker cannot work: \(reason)")
        default:
            throw Failure(description: "a worker was not ready: it \(WorkerProcess(id: id, socket: ours).end())")
        }
    }

    /// Nothing of the service's own environment, which may hold secrets, but where its libraries are.
    private static var environment: [String] {
        // A worker that crashed must end at once, and could start no backtracer.
        // Address space is limited, so what is not used is not kept.
        var variables = ["SWIFT_BACKTRACE=enable=no", "MALLOC_CONF=narenas:1,retain:false"]
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
