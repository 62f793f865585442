import CLinux
import Coordination
import Glibc
import Imaging
import Memory

/// The server's hold on one worker process, used by one thread at a time.
@safe
final class WorkerProcess: @unchecked Sendable {
    /// The process.
    let id: pid_t
    let socket: MessageSocket
    /// What it said of itself when it was ready.
    let protections: Protections
    /// Pictures that it was given.
    private(set) var requests = 0
    /// The memory that the worker has as well: what files are copied into, and what pixels were copied out of.
    private var file, pixels: KeptMemory?

    /// Takes over a process that was started, and must be ended.
    init(id: pid_t, socket: MessageSocket, protections: Protections = .none) {
        self.id = id
        self.socket = socket
        self.protections = protections
    }

    /// What became of a request.
    enum Outcome {
        case decoded(DecodedImage)
        /// The picture is damaged; the text is for logs.
        case failed(String)
        /// The worker ended, or was found stopped, before it answered.
        case lost
        /// The worker said what it must not.
        case breach(String)
        /// The token said stop; the worker is still at it, and has had a processor for at least half of the time limit, or has not.
        case interrupted(wasBusy: Bool)
    }

    /// Between two looks at whether anybody still waits, in milliseconds.
    private static let patience: CInt = 50

    /// Has the worker decode a file, blocking the calling thread.
    ///
    /// - Throws: ``SharedMemoryError`` for what this process cannot do.
    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken
    ) throws(SharedMemoryError) -> Outcome {
        requests += 1
        var new: WorkerRequest.Memories = []
        var pixels: KeptMemory
        if let kept = self.pixels.take() {
            pixels = kept
        } else {
            pixels = try KeptMemory("alula pixels", isWritable: false)
            new.insert(.pixels)
        }
        let processorStart = processorTime
        guard try ask(bytes, plan, new, pixels.memory.descriptor) else { return .lost }
        while !socket.wait(milliseconds: Self.patience) {
            if token.shouldStop {
                let isBusy = token.timeLimit.map { processorTime - processorStart >= $0 / 2 }
                return .interrupted(wasBusy: isBusy ?? false)
            }
            if isStopped { return .lost }
        }
        let message = socket.receive(count: WorkerAnswer.byteCount)
        if message.isEmpty { return .lost }
        switch WorkerAnswer(message) {
        case .decoded(let picture):
            do {
                let image = try picture.image(in: &pixels, of: header, by: plan)
                if picture.isCopied { self.pixels = consume pixels }
                return .decoded(image)
            } catch let error as SharedMemoryError where error.isShortage {
                throw error
            } catch {
                return .breach("\(error)")
            }
        case .failed(let text): return .failed(text)
        default: return .breach("no such answer")
        }
    }

    /// Sends a request, with what the worker needs of it; false where nobody takes it.
    private func ask(
        _ bytes: SharedBytes, _ plan: DecodePlan, _ new: WorkerRequest.Memories, _ pixels: CInt
    ) throws(SharedMemoryError) -> Bool {
        func send(_ new: WorkerRequest.Memories, _ descriptors: [CInt]) -> Bool {
            socket.send(
                WorkerRequest.decode(byteCount: bytes.count, plan: plan, new: new).message,
                descriptors + (new.contains(.pixels) ? [pixels] : []))
        }
        let kept = file.take()
        guard bytes.count <= KeptMemory.count else {
            let file = try SharedMemory("alula source")
            try file.write(bytes)
            return send(new.union(.file), [file.descriptor])
        }
        if var file = consume kept {
            try file.write(bytes)
            self.file = consume file
            return send(new, [])
        }
        var file = try KeptMemory("alula source", isWritable: true)
        try file.write(bytes)
        let descriptor = file.memory.descriptor
        self.file = consume file
        return send(new.union(.file), [descriptor])
    }

    /// Has the worker try something; the number of the error, 0 where it worked, nil where the attempt ended it.
    func attempt(_ deed: Deed) -> CInt? {
        guard socket.send(WorkerRequest.attempt(deed).message), socket.wait(milliseconds: 10_000),
            case .attempted(let error) = WorkerAnswer(socket.receive(count: WorkerAnswer.byteCount))
        else { return nil }
        return error
    }

    /// Kills the process, if it still runs, and waits for it; how it had ended before.
    func end() -> WorkerEnd {
        kill(id, SIGKILL)
        var status: CInt = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        return WorkerEnd(status: status)
    }

    /// CPU time of the process so far.
    var processorTime: Duration { .nanoseconds(max(0, CLinux_processor_nanoseconds(id))) }

    /// Whether somebody has stopped the process with a signal: it will not answer.
    var isStopped: Bool {
        var information = unsafe siginfo_t()
        let found = unsafe waitid(P_PID, id_t(id), &information, WSTOPPED | WNOHANG | CInt(WNOWAIT))
        return unsafe found == 0 && information.si_signo == SIGCHLD
    }
}

/// How a process came to its end.
enum WorkerEnd: Hashable, CustomStringConvertible {
    case exited(CInt)
    case killed(signal: CInt)

    /// Reads what the kernel reports.
    init(status: CInt) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    /// Whether the kernel ended it over what it is not allowed: a system call, or more than its limits.
    var isViolation: Bool {
        if case .killed(let signal) = self { [SIGSYS, SIGXCPU, SIGXFSZ].contains(signal) } else { false }
    }

    var description: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
