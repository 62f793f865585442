import CLinux
import Coordination
import Glibc
import Memory

/// The server's hold on one worker process, used by one thread at a time.
@safe
final class WorkerProcess: @unchecked Sendable {
    /// The process.
    let id: pid_t
    let socket: MessageSocket
    /// What it said of itself when it was ready.
    let protections: Protections
    /// Pictures that it was given, files or pixels.
    private(set) var requests = 0
    /// Bytes of address space when it was ready, with what is kept for it.
    private let addressSpace: Int
    /// Bytes that it may have beside that and its picture's.
    private let spareMemory: Int
    /// Bytes that it was allowed for its last picture; nil for all that it was started with.
    private var allowance: Int?
    /// The memory that the worker has as well: what is given to it is copied into the one, what comes of it out of the other.
    private var input, output: KeptMemory?

    /// Takes over a process that was started, and must be ended.
    init(id: pid_t, socket: MessageSocket, protections: Protections = .none, spareMemory: Int = 0) {
        self.spareMemory = spareMemory
        self.id = id
        self.socket = socket
        self.protections = protections
        addressSpace = max(0, Int(CLinux_address_space(id))) + 2 * KeptMemory.count
    }

    /// What became of a request.
    enum Outcome<Result> {
        case done(Result)
        /// The picture is damaged, or cannot be written; the text is for logs.
        case failed(String)
        /// The worker ended, or was found stopped, before it answered.
        case lost
        /// The worker said what it must not.
        case breach(String)
        /// The token said stop; the worker is still at it, and has had a processor for at least half of the time limit, or has not.
        case interrupted(wasBusy: Bool)
        /// The worker is still at it, and has used all the CPU time that it may for it.
        case exhausted
    }

    /// Between two looks at whether anybody still waits, in milliseconds.
    private static let patience: CInt = 50

    /// Has the worker do something with `bytes`, blocking the calling thread.
    ///
    /// - Parameters:
    ///   - memory: Bytes that it may take for it, beside what it has: a file of which its head says too little ends there. All that
    ///     the worker was started with where this is nil.
    ///   - processorTime: CPU time that it may take for it; nil for what `token` leaves it.
    ///   - read: Makes the result of what the worker says and has left in the memory; throws where that is not true.
    /// - Throws: ``SharedMemoryError`` for what this process cannot do, or the worker for want of memory.
    func perform<Result>(
        _ work: WorkerRequest.Work, on bytes: SharedBytes, memory: Int? = nil, processorTime limit: Duration? = nil,
        token: WorkToken, read: (_ answer: WorkerAnswer, _ output: inout KeptMemory) throws -> Result
    ) throws(SharedMemoryError) -> Outcome<Result> {
        requests += 1
        var new: WorkerRequest.Memories = []
        var output: KeptMemory
        if let kept = self.output.take() {
            output = kept
        } else {
            output = try KeptMemory("alula output", isWritable: false)
            new.insert(.output)
        }
        if let memory { allow(memory) }
        let processorStart = processorTime
        guard try ask(for: work, on: bytes, new, output.memory.descriptor) else { return .lost }
        while !socket.wait(milliseconds: Self.patience) {
            if token.shouldStop {
                let isBusy = token.timeLimit.map { processorTime - processorStart >= $0 / 2 }
                return .interrupted(wasBusy: isBusy ?? false)
            }
            if isStopped { return .lost }
            if let limit, processorTime - processorStart > limit { return .exhausted }
        }
        let message = socket.receive(count: WorkerAnswer.byteCount)
        if message.isEmpty { return .lost }
        guard let answer = WorkerAnswer(message) else { return .breach("no such answer") }
        switch answer {
        case .failed(let text): return .failed(text)
        case .noRoom: throw SharedMemoryError("a worker's memory", ENOMEM)
        default: break
        }
        do {
            let result = try read(answer, &output)
            if output.isKept { self.output = consume output }
            return .done(result)
        } catch let error as SharedMemoryError where error.isShortage {
            throw error
        } catch {
            return .breach("\(error)")
        }
    }

    /// Sends a request, with what the worker needs for it; false where nobody takes it.
    private func ask(
        for work: WorkerRequest.Work, on bytes: SharedBytes, _ new: WorkerRequest.Memories, _ output: CInt
    ) throws(SharedMemoryError) -> Bool {
        func send(_ new: WorkerRequest.Memories, _ descriptors: [CInt]) -> Bool {
            // As if this thread went on itself.
            CLinux_bind_to_this_processor(id)
            return socket.send(
                WorkerRequest.perform(work, byteCount: bytes.count, new: new).message,
                descriptors + (new.contains(.output) ? [output] : []))
        }
        let kept = input.take()
        guard bytes.count <= KeptMemory.count else {
            let input = try SharedMemory("alula input")
            try input.write(bytes)
            return send(new.union(.input), [input.descriptor])
        }
        if var input = consume kept {
            try input.write(bytes)
            self.input = consume input
            return send(new, [])
        }
        var input = try KeptMemory("alula input", isWritable: true)
        try input.write(bytes)
        let descriptor = input.memory.descriptor
        self.input = consume input
        return send(new.union(.input), [descriptor])
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

    /// Whether it has kept so much that the next picture might miss it.
    ///
    /// Asked after large pictures, and now and then after small ones: the kernel takes its time to tell.
    var hasGrown: Bool {
        guard requests % 64 == 0 || allowance ?? 0 > Self.allowanceStep else { return false }
        return Int(CLinux_address_space(id)) - addressSpace > spareMemory / 2
    }

    private static let allowanceStep = 64 << 20

    /// Lets it have so many bytes beside what is to spare, rounded up so that pictures of about a size need no change.
    private func allow(_ memory: Int) {
        let rounded = (memory / Self.allowanceStep + 1) * Self.allowanceStep
        guard rounded != allowance else { return }
        allowance = rounded
        _ = CLinux_limit_address_space(id, Int64(addressSpace + spareMemory + rounded))
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
