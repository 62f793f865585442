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
    /// Where the kernel asks about it; nil where the kernel judges for itself.
    let supervisor: Supervisor?
    /// When it was started.
    let start = SystemTimekeeper().now
    /// Its CPU time when it had nothing more to do.
    private(set) var restingTime: Duration
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
    init(
        id: pid_t, socket: MessageSocket, supervisor: Supervisor? = nil, protections: Protections = .none,
        spareMemory: Int = 0
    ) {
        self.spareMemory = spareMemory
        self.id = id
        self.socket = socket
        self.supervisor = supervisor
        restingTime = Self.processorTime(of: id)
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
        /// The worker waits in a system call that it must not do.
        case forbidden(call: String)
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
    ///   - room: Bytes that may come of it.
    ///   - memory: Bytes that it may take for it, beside what it has: a file of which its head says too little ends there. All that
    ///     the worker was started with where this is nil.
    ///   - processorTime: CPU time that it may take for it; nil for what `token` leaves it.
    ///   - read: Makes the result of what the worker says and has left in the memory; throws where that is not true.
    /// - Throws: ``SharedMemoryError`` for what this process cannot do, or the worker for want of memory.
    func perform<Result>(
        _ work: WorkerRequest.Work, on bytes: SharedBytes, room: Int, memory: Int? = nil,
        processorTime limit: Duration? = nil, token: WorkToken,
        read: (_ answer: WorkerAnswer, _ output: inout OutputMemory) throws -> Result
    ) throws(SharedMemoryError) -> Outcome<Result> {
        requests += 1
        var new: WorkerRequest.Memories = []
        if output == nil {
            output = try KeptMemory("alula output", isWritable: false)
            new.insert(.output)
        }
        guard let kept = self.output.take() else { return .lost }
        var output = try OutputMemory(kept, room: room)
        if let memory { allow(memory) }
        let processorStart = processorTime
        supervisor?.begin()
        guard try ask(for: work, on: bytes, room: room, new, output) else { return .lost }
        waiting: while true {
            switch socket.event(supervisor, milliseconds: Self.patience) {
            case .word: break waiting
            case .forbidden(let call): return .forbidden(call: call)
            case .nothing: break
            }
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
        let result = Swift.Result { try read(answer, &output) }
        self.output = output.finish()
        switch answer {
        case .failed(let text): return .failed(text)
        case .noRoom: throw SharedMemoryError("a worker's memory", ENOMEM)
        default: break
        }
        do {
            return .done(try result.get())
        } catch let error as SharedMemoryError where error.isShortage {
            throw error
        } catch {
            return .breach("\(error)")
        }
    }

    /// Sends a request, with what the worker needs for it; false where nobody takes it.
    private func ask(
        for work: WorkerRequest.Work, on bytes: SharedBytes, room: Int, _ new: WorkerRequest.Memories,
        _ output: borrowing OutputMemory
    ) throws(SharedMemoryError) -> Bool {
        var new = new
        var descriptors = new.contains(.output) ? [output.descriptor] : []
        let large: SharedMemory?
        if bytes.count > KeptMemory.count {
            let memory = try SharedMemory("alula large input", count: bytes.count)
            try memory.write(bytes)
            try memory.seal()
            new.insert(.largeInput)
            descriptors.append(memory.descriptor)
            large = consume memory
        } else {
            large = nil
            let isNew = input == nil
            if isNew { input = try KeptMemory("alula input", isWritable: true) }
            guard var kept = input.take() else { return false }
            try kept.write(bytes)
            if isNew {
                new.insert(.input)
                descriptors.insert(kept.memory.descriptor, at: 0)
            }
            input = consume kept
        }
        if let descriptor = output.largeDescriptor {
            new.insert(.largeOutput)
            descriptors.append(descriptor)
        }
        // As if this thread went on itself.
        CLinux_bind_to_this_processor(id)
        let isSent = socket.send(
            WorkerRequest.perform(work, byteCount: bytes.count, room: room, new: new).message, descriptors)
        _ = consume large
        return isSent
    }

    /// What came of an attempt.
    enum Attempt: Hashable {
        /// The number of its error, 0 where it worked.
        case finished(error: CInt)
        /// The worker waits in a system call that it must not do.
        case forbidden(call: String)
        /// The worker is gone, or says nothing.
        case lost
    }

    /// Has the worker try something.
    func attempt(_ deed: Deed) -> Attempt {
        supervisor?.begin()
        guard socket.send(WorkerRequest.attempt(deed).message) else { return .lost }
        let end = SystemTimekeeper().now + .seconds(10)
        while SystemTimekeeper().now < end {
            switch socket.event(supervisor, milliseconds: Self.patience) {
            case .forbidden(let call): return .forbidden(call: call)
            case .nothing: continue
            case .word: break
            }
            guard case .attempted(let error) = WorkerAnswer(socket.receive(count: WorkerAnswer.byteCount)) else {
                break
            }
            return .finished(error: error)
        }
        return .lost
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
    var processorTime: Duration { Self.processorTime(of: id) }

    private static func processorTime(of process: pid_t) -> Duration {
        .nanoseconds(max(0, CLinux_processor_nanoseconds(process)))
    }

    /// Nothing is asked of it from now on, until somebody takes it.
    func rest() {
        restingTime = processorTime
    }

    /// What is wrong with a worker that nobody has asked for anything.
    enum Unrest: Hashable {
        /// It has ended, or was stopped.
        case gone
        /// It waits in a system call that it must not do.
        case forbidden(call: String)
        /// It has said something, or works on nothing.
        case breach(String)
    }

    /// What is wrong with the worker, which has nothing to do; nil where it waits as it should.
    var unrest: Unrest? {
        switch socket.event(supervisor, milliseconds: 0) {
        case .forbidden(let call): return .forbidden(call: call)
        case .word: return socket.receive(count: WorkerAnswer.byteCount).isEmpty ? .gone : .breach("it spoke unasked")
        case .nothing: break
        }
        if isStopped { return .gone }
        return isBusyForNobody ? .breach("it is busy with nothing to do") : nil
    }

    /// Whether it has worked since nothing was asked of it, beyond tidying up.
    var isBusyForNobody: Bool { processorTime - restingTime > Self.tidyingTime }

    private static let tidyingTime = Duration.seconds(1)

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

    /// Why a worker ended so that nobody here has killed.
    var cause: SandboxMetrics.Cause {
        switch self {
        case .killed(SIGSYS): .violation
        case .killed(SIGXCPU), .killed(SIGXFSZ): .limit
        case .killed(SIGKILL): .killed
        case .killed, .exited: .crash
        }
    }

    var description: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
