import CLinux
import Coordination
import Glibc
package import Recipes

package struct WorkerLaunch: Sendable {
    /// The program, which must support the subcommand ``SandboxWorker/command``; by default the running executable.
    package var executable = "/proc/self/exe"
    package var limits: WorkerLimits
    package var spareMemory = 256 << 20
    /// The formats that a forked worker decodes; nil if the first worker must decode all.
    package var formats: Set<ImageFormat>?
    package var timeLimit = Duration.seconds(20)

    package init(executable: String = "/proc/self/exe", limits: WorkerLimits) {
        self.executable = executable
        self.limits = limits
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts a worker and waits until it is ready; it ends with the calling thread.
    ///
    /// - Parameter template: The process to copy; nil starts a new program.
    func start(copying template: WorkerTemplate? = nil) throws(Failure) -> WorkerProcess {
        let (id, socket) = try connect { theirs throws(Failure) in
            guard let template else { return try spawn(theirs, arguments: limits.arguments) }
            guard let copy = template.copy(theirs) else { throw Failure(description: "the template made no copy") }
            return copy
        }
        return try awaitReady(id, socket: socket, template: template)
    }

    /// Waits until the worker that this process has forked is ready; returns nil if there is none.
    func startForked() throws(Failure) -> WorkerProcess? {
        guard let (id, socket) = ForkedWorker.start(limits: limits, formats: formats) else { return nil }
        return try awaitReady(id, socket: socket, template: nil)
    }

    private func awaitReady(
        _ id: pid_t, socket: MessageSocket, template: WorkerTemplate?
    ) throws(Failure) -> WorkerProcess {
        var supervisor: Supervisor?
        let response: WorkerResponse?
        do {
            response = try firstResponse(on: socket, of: id, supervisor: &supervisor)
        } catch {
            _ = WorkerProcess(id: id, socket: socket).end()
            throw error
        }
        switch response {
        case .ready(let protections) where protections.isSupervised == (supervisor != nil):
            return WorkerProcess(
                id: id, socket: socket, supervisor: supervisor, protections: protections, spareMemory: spareMemory,
                template: template)
        case .notStarted(let reason):
            _ = WorkerProcess(id: id, socket: socket).end()
            throw Failure(description: "a worker cannot start: \(reason)")
        default:
            throw Failure(description: "a worker was not ready: it \(WorkerProcess(id: id, socket: socket).end())")
        }
    }

    /// Starts a template and waits until it is ready; it ends with the calling thread.
    func startTemplate() throws(Failure) -> WorkerTemplate {
        let (id, socket) = try connect { theirs throws(Failure) in
            try spawn(theirs, arguments: limits.arguments + [TemplateProcess.argument])
        }
        let isInTime = socket.wait(milliseconds: CInt(timeLimit.seconds * 1_000))
        let response = isInTime ? WorkerResponse(socket.receive(count: WorkerResponse.byteCount)) : nil
        if response == .prepared { return WorkerTemplate(id: id, socket: socket) }
        let end = WorkerEnd(killing: id)
        guard case .notStarted(let reason) = response else {
            throw Failure(description: "a template was not prepared: it \(end)")
        }
        throw Failure(description: "a template cannot start: \(reason)")
    }

    private func connect(
        _ start: (_ theirs: MessageSocket) throws(Failure) -> pid_t
    ) throws(Failure) -> (pid_t, MessageSocket) {
        let (ours, theirs): (MessageSocket, MessageSocket)
        do {
            (ours, theirs) = try MessageSocket.pair()
        } catch {
            throw Failure(description: "\(error)")
        }
        // The local copy of the worker's end is closed on return, so that the connection ends with the worker.
        return (try start(theirs), ours)
    }

    private func spawn(_ socket: MessageSocket, arguments: [String]) throws(Failure) -> pid_t {
        var id: pid_t = 0
        let error = unsafe Self.withStrings([executable, SandboxWorker.command] + arguments) { arguments in
            unsafe Self.withStrings(Self.environment) { environment in
                unsafe CLinux_spawn_worker(executable, arguments, environment, socket.descriptor, &id)
            }
        }
        guard error == 0 else { throw Failure(description: "posix_spawn: error \(error)") }
        return id
    }

    /// Waits for a response; the supervisor's descriptor may precede it.
    ///
    /// The server accepts no other descriptor from a worker, and the worker has not read a file yet.
    private func firstResponse(
        on socket: MessageSocket, of process: pid_t, supervisor: inout Supervisor?
    ) throws(Failure) -> WorkerResponse? {
        let end = SystemTimekeeper().now + timeLimit
        while true {
            let remaining = max(0, (end - SystemTimekeeper().now).seconds)
            switch socket.event(supervisor, milliseconds: CInt(remaining * 1_000)) {
            case .forbidden(let call):
                throw Failure(description: "a starting worker made the forbidden system call \(call)")
            case .none where remaining == 0: return nil
            case .none: break
            case .message:
                guard let (message, descriptors) = socket.nextMessage(count: WorkerResponse.byteCount) else {
                    return nil
                }
                let response = WorkerResponse(message)
                guard response == .supervised, supervisor == nil, descriptors.count == 1 else {
                    for descriptor in descriptors { close(descriptor) }
                    return response
                }
                supervisor = Supervisor(adopting: descriptors[0], of: process)
            }
        }
    }

    /// The environment of workers: the library path, but nothing else of the service's, which may contain secrets.
    private static var environment: [String] {
        // A worker that crashes must end immediately, without a backtracer. Address space is limited, so the allocator
        // must return unused memory. A template must not have threads. Requests already run in parallel, and libgomp
        // would start a thread per processor, and end the process if it got fewer.
        let allocation = "narenas:1,retain:false,background_thread:false,dirty_decay_ms:500"
        var variables = ["SWIFT_BACKTRACE=enable=no", "MALLOC_CONF=\(allocation)", "OMP_NUM_THREADS=1"]
        if let path = unsafe getenv("LD_LIBRARY_PATH") {
            variables.append("LD_LIBRARY_PATH=\(unsafe String(cString: path))")
        }
        return variables
    }

    @unsafe
    private static func withStrings<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(&pointers)
    }
}
