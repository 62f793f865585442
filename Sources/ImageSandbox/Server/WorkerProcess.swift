import CLinux
import Coordination
import Glibc
import Memory

/// Work for a worker process, with its input and limits.
struct WorkerJob {
    let work: WorkerRequest.Work
    let bytes: SharedBytes
    let maximumResultBytes: Int
    /// Address space in bytes beyond the worker's current one, so that a file with a false header fails.
    ///
    /// Nil keeps the initial limit.
    var memory: Int?
    /// The limit on CPU time; nil uses the remaining time of ``token``.
    var processorTime: Duration?
    let token: WorkToken
}

/// A worker process, used by one thread at a time.
@safe
final class WorkerProcess: @unchecked Sendable {
    enum Outcome<Result> {
        case done(Result)
        /// The image is damaged, or cannot be encoded; the text is for logs.
        case failed(String)
        /// The process has ended.
        case ended
        case forbidden(call: String)
        /// The response or the result is invalid.
        case protocolError(String)
        /// The token stopped the work; `wasBusy` if the worker used a processor for at least half of the time limit.
        case interrupted(wasBusy: Bool)
        /// Intact images may fail in the worker from now on.
        case unreliable(String)
        /// The worker had too little memory for the image.
        case outOfMemory
        case processorTimeExceeded
    }

    enum Attempt: Hashable {
        case finished(error: CInt)
        case forbidden(call: String)
        case ended
    }

    enum IdleFault: Hashable {
        case ended
        case forbidden(call: String)
        case protocolError(String)
    }

    let id: pid_t
    let socket: MessageSocket
    let protections: Protections
    /// The supervisor; nil if the kernel decides alone.
    let supervisor: Supervisor?
    let template: WorkerTemplate?
    let start = SystemTimekeeper().now
    private(set) var idleProcessorTime: Duration
    private(set) var requests = 0
    /// The request counts when the worker last freed memory and when it was last idle.
    private var requestsAtRelease = 0
    private var requestsWhenIdle = 0
    /// The address space of the ready worker in bytes, including the memory that it keeps.
    private let addressSpace: Int
    /// Memory in bytes beyond the address space and the image's need.
    private let spareMemory: Int
    /// The limit for the last image in bytes; nil while the initial limit applies.
    private var allowance: Int?
    /// The server copies files into `input` and results out of `output`.
    private var input, output: ReusableMemory?

    init(
        id: pid_t, socket: MessageSocket, supervisor: Supervisor? = nil, protections: Protections = .none,
        spareMemory: Int = 0, template: WorkerTemplate? = nil
    ) {
        self.template = template
        self.spareMemory = spareMemory
        self.id = id
        self.socket = socket
        self.supervisor = supervisor
        idleProcessorTime = Self.processorTime(of: id)
        self.protections = protections
        addressSpace = max(0, Int(CLinux_address_space(id))) + 2 * ReusableMemory.count
    }

    private static let checkInterval: CInt = 50

    /// Performs a job, and blocks until the worker has finished.
    ///
    /// - Parameter read: Checks the response and the output memory.
    /// - Throws: ``SharedMemoryError`` if this process is short of memory or descriptors.
    func perform<Result>(
        _ job: WorkerJob, read: (_ response: WorkerResponse, _ output: inout OutputMemory) throws -> Result
    ) throws(SharedMemoryError) -> Outcome<Result> {
        requests += 1
        let isOutputNew = output == nil
        if isOutputNew { output = try ReusableMemory("alula output", isWritable: false) }
        guard let reusable = self.output.take() else { return .ended }
        var output = try OutputMemory(reusable, capacity: job.maximumResultBytes)
        if let memory = job.memory { setAddressSpace(for: memory) }
        let processorStart = processorTime
        defer { job.token.add(processorTime: processorTime - processorStart) }
        supervisor?.resetCounts()
        guard try send(job, output: output, isOutputNew: isOutputNew) else { return .ended }
        if let outcome: Outcome<Result> = waitForMessage(for: job, since: processorStart) { return outcome }
        let message = socket.receive(count: WorkerResponse.byteCount)
        if message.isEmpty { return .ended }
        guard let response = WorkerResponse(message) else { return .protocolError("an unknown response") }
        let result = Swift.Result { try read(response, &output) }
        self.output = output.finish()
        switch response {
        case .failed(let text): return .failed(text)
        case .unreliable(let text): return .unreliable(text)
        case .outOfMemory: return .outOfMemory
        default: break
        }
        do {
            return .done(try result.get())
        } catch let error as SharedMemoryError where error.isShortage {
            throw error
        } catch {
            return .protocolError("\(error)")
        }
    }

    /// Blocks until the worker sends a message; returns the outcome if there will be none.
    ///
    /// - Parameter start: The worker's processor time before the work.
    private func waitForMessage<Result>(for job: WorkerJob, since start: Duration) -> Outcome<Result>? {
        let limit = job.processorTime
        // A short limit needs frequent checks.
        let interval = CInt(max(1, min(Double(Self.checkInterval), (limit?.seconds ?? .infinity) * 250)))
        while true {
            switch socket.event(supervisor, milliseconds: interval) {
            case .message: return nil
            case .forbidden(let call): return .forbidden(call: call)
            case .none: break
            }
            if job.token.shouldStop {
                let isBusy = job.token.timeLimit.map { processorTime - start >= $0 / 2 }
                return .interrupted(wasBusy: isBusy ?? false)
            }
            if isStopped { return .ended }
            if let limit, processorTime - start > limit { return .processorTimeExceeded }
        }
    }

    private func send(
        _ job: WorkerJob, output: borrowing OutputMemory, isOutputNew: Bool
    ) throws(SharedMemoryError) -> Bool {
        let bytes = job.bytes
        var newMemories: WorkerRequest.Memories = isOutputNew ? .output : []
        var descriptors = isOutputNew ? [output.descriptor] : []
        let large: SharedMemory?
        if bytes.count > ReusableMemory.count {
            let memory = try SharedMemory("alula large input", count: bytes.count)
            try memory.write(bytes)
            try memory.seal()
            newMemories.insert(.largeInput)
            descriptors.append(memory.descriptor)
            large = consume memory
        } else {
            large = nil
            let isNew = input == nil
            if isNew { input = try ReusableMemory("alula input", isWritable: true) }
            guard var reusable = input.take() else { return false }
            try reusable.write(bytes)
            if isNew {
                newMemories.insert(.input)
                descriptors.insert(reusable.memory.descriptor, at: 0)
            }
            input = consume reusable
        }
        if let descriptor = output.largeDescriptor {
            newMemories.insert(.largeOutput)
            descriptors.append(descriptor)
        }
        // The worker continues on this thread's processor, so that the kernel need not search for one.
        CLinux_bind_to_this_processor(id)
        let request = WorkerRequest.perform(
            job.work, byteCount: bytes.count, maximumResultBytes: job.maximumResultBytes, newMemories: newMemories)
        let isSent = socket.send(request.message, descriptors: descriptors)
        _ = consume large
        return isSent
    }

    func attempt(_ action: ForbiddenAction) -> Attempt {
        supervisor?.resetCounts()
        guard socket.send(WorkerRequest.attempt(action).message) else { return .ended }
        let end = SystemTimekeeper().now + .seconds(10)
        while SystemTimekeeper().now < end {
            switch socket.event(supervisor, milliseconds: Self.checkInterval) {
            case .forbidden(let call): return .forbidden(call: call)
            case .none: continue
            case .message: break
            }
            guard case .attempted(let error) = WorkerResponse(socket.receive(count: WorkerResponse.byteCount)) else {
                break
            }
            return .finished(error: error)
        }
        return .ended
    }

    func end() -> WorkerEnd { WorkerEnd(killing: id) }

    /// Whether the worker keeps so much memory that the next image might lack it.
    ///
    /// Checked after large images, and only sometimes after small ones, because the query is slow.
    var hasGrown: Bool {
        guard requests % 64 == 0 || allowance ?? 0 > Self.allowanceStep else { return false }
        return Int(CLinux_address_space(id)) - addressSpace > spareMemory / 2
    }

    private static let allowanceStep = 64 << 20

    /// Sets the limit, rounded up so that images of similar size need no system call.
    private func setAddressSpace(for memory: Int) {
        let rounded = (memory / Self.allowanceStep + 1) * Self.allowanceStep
        guard rounded != allowance else { return }
        allowance = rounded
        #if !SANITIZING
        _ = CLinux_limit_address_space(id, Int64(addressSpace + spareMemory + rounded))
        #endif
    }

    var processorTime: Duration { Self.processorTime(of: id) }

    private static func processorTime(of process: pid_t) -> Duration {
        .nanoseconds(max(0, CLinux_processor_nanoseconds(process)))
    }

    /// Starts the idle time, during which the worker must not use CPU time.
    func markIdle() { idleProcessorTime = processorTime }

    /// Whether the worker should free memory: it has had requests since it last did, but none since the last check.
    var shouldReleaseMemory: Bool { requests > requestsAtRelease && requests == requestsWhenIdle }

    func recordIdle() { requestsWhenIdle = requests }

    /// Frees the pages of the shared memory, and the worker's unused memory.
    func releaseMemory() {
        requestsAtRelease = requests
        input?.releasePages()
        output?.releasePages()
        // If sending fails, the worker has ended or was stopped, which its next use detects.
        _ = socket.send(WorkerRequest.releaseMemory.message)
    }

    var idleFault: IdleFault? {
        switch socket.event(supervisor, milliseconds: 0) {
        case .forbidden(let call): return .forbidden(call: call)
        case .message:
            return socket.receive(count: WorkerResponse.byteCount).isEmpty
                ? .ended : .protocolError("it sent a message without a request")
        case .none: break
        }
        if isStopped { return .ended }
        return isBusyWhileIdle ? .protocolError("it used CPU time without a request") : nil
    }

    /// Whether the worker has used more CPU time since the last request than freeing memory takes.
    var isBusyWhileIdle: Bool { processorTime - idleProcessorTime > Self.idleTimeAllowance }

    private static let idleTimeAllowance = Duration.seconds(1)

    var isStopped: Bool {
        var information = unsafe siginfo_t()
        let found = unsafe waitid(P_PID, id_t(id), &information, WSTOPPED | WNOHANG | CInt(WNOWAIT))
        return unsafe found == 0 && information.si_signo == SIGCHLD
    }
}
