import Coordination
import Glibc
import Telemetry

/// The workers that run, and a thread of its own that starts, watches and buries them.
///
/// A worker belongs to whoever took it, until it is given back or dismissed. Where there is one more of them than are ever taken at a
/// time, whoever loses one finds another at once.
final class WorkerRoster: Sendable {
    fileprivate struct State {
        var running: [WorkerProcess] = []
        /// The last one used is the next: what it works with is still near the processor.
        var idle: [WorkerProcess] = []
        /// Killed, to be waited for.
        var dismissed: [WorkerProcess] = []
        /// Ended while somebody had them, who will see it.
        var noticed: Set<pid_t> = []
        var first: Result<Protections, WorkerLaunch.Failure>?
        var delay = WorkerRoster.shortestDelay
        var nextStart = Duration.zero
        var isStopped = false
    }

    private enum Task {
        case start
        case bury(WorkerProcess)
        case watch([WorkerProcess], until: Duration?)
    }

    /// Between two attempts to start a worker where that fails.
    private static let shortestDelay = Duration.milliseconds(100)
    private static let longestDelay = Duration.seconds(5)

    /// Between two looks at whether idle workers are idle, in milliseconds.
    private static let idleLook = 5_000.0

    private let configuration: SandboxConfiguration
    private let workerCount: Int
    private let life: WorkerLife
    /// What every worker must be protected by; nil for what the first is.
    private let requirement: Protections?
    private let metrics: SandboxMetrics
    private let logger: Logger
    private let state = ConditionGuarded(State())
    /// Readable when the thread has something to do.
    private let bell: (ring: MessageSocket, hear: MessageSocket)
    private let thread = Locked<WorkThread?>(nil)

    /// Starts the thread, which starts the workers.
    ///
    /// - Throws: ``SharedMemoryError`` where there are no descriptors left.
    init(
        _ configuration: SandboxConfiguration, workerCount: Int, life: WorkerLife,
        atLeast requirement: Protections? = nil, metrics: SandboxMetrics, logger: Logger
    ) throws(SharedMemoryError) {
        self.life = life
        self.requirement = requirement
        self.configuration = configuration
        self.workerCount = workerCount
        self.metrics = metrics
        self.logger = logger
        bell = try MessageSocket.pair()
        do {
            let thread = try WorkThread(named: "sandbox") { self.work() }
            self.thread.withLock { $0 = thread }
        } catch {
            preconditionFailure("cannot start the sandbox's thread: error \(error.systemError)")
        }
    }

    /// Waits until the first worker is ready; what protects it.
    ///
    /// - Throws: ``WorkerLaunch/Failure`` where it could not be started.
    func blockingFirst() throws(WorkerLaunch.Failure) -> Protections {
        try state.blockingWait { $0.first }.get()
    }

    /// The processes that are ready or at work.
    var processes: [pid_t] { state.withLock { $0.running.map(\.id) } }

    /// The processes that are ready, the next to be taken last.
    var idleProcesses: [pid_t] { state.withLock { $0.idle.map(\.id) } }

    /// A worker for the caller alone; waits for one where all are taken.
    ///
    /// - Throws: ``WorkerPool/Stopped``, or what `token` says.
    func take(_ token: WorkToken) throws -> WorkerProcess {
        while true {
            guard let worker = try blockingIdle() else {
                try token.check()
                continue
            }
            guard let unrest = worker.unrest else { return worker }
            part(with: worker, over: unrest)
        }
    }

    /// Ends a worker that does not wait as it should.
    private func part(with worker: WorkerProcess, over unrest: WorkerProcess.Unrest) {
        switch unrest {
        case .gone: bury(worker)
        case .forbidden(let call): expel(worker, .violation, "it tried the system call \(call)")
        case .breach(let text): expel(worker, .breach, text)
        }
    }

    /// Takes a worker back that has answered.
    func giveBack(_ worker: WorkerProcess) {
        // What it keeps of large pictures would be missing for the next.
        if worker.hasGrown {
            dismiss(worker, .recycled)
            return
        }
        worker.rest()
        let age = life.age(of: worker)
        let isReplaced = state.withLock { state in
            guard !state.isStopped else { return true }
            // Where no other is ready to take its place it stays a while longer.
            guard age < (state.idle.isEmpty ? 2 : 1) else { return true }
            state.idle.append(worker)
            self.state.wakeOne()
            return false
        }
        if isReplaced { dismiss(worker, .recycled) }
    }

    /// Kills a worker that is of no use any more; does not wait for its end.
    func dismiss(_ worker: WorkerProcess, _ cause: SandboxMetrics.Cause) {
        kill(worker.id, SIGKILL)
        metrics.ended(cause)
        let isLate = state.withLock { state in
            state.forget(worker)
            if !state.isStopped { state.dismissed.append(worker) }
            return state.isStopped
        }
        if isLate { _ = worker.end() } else { ring() }
    }

    /// Kills a worker that did what none must, and says so where it is seen.
    func expel(_ worker: WorkerProcess, _ cause: SandboxMetrics.Cause, _ reason: String) {
        report(worker, cause, reason)
        dismiss(worker, cause)
    }

    private func report(_ worker: WorkerProcess, _ cause: SandboxMetrics.Cause, _ reason: String) {
        logger.error(
            "decode worker did what it must not",
            ["process": .int(Int(worker.id)), "cause": .string(cause.rawValue), "reason": .string(reason)])
    }

    /// Waits for the end of a worker that is ending, or kills it; how it ended.
    @discardableResult
    func bury(_ worker: WorkerProcess) -> WorkerEnd {
        let end = worker.end()
        metrics.ended(end.cause)
        if end.cause == .violation {
            report(worker, .violation, "it tried a system call")
        } else {
            logger.warning(
                "decode worker ended",
                [
                    "process": .int(Int(worker.id)), "cause": .string(end.cause.rawValue), "reason": .string("\(end)"),
                ])
        }
        state.withLock { $0.forget(worker) }
        ring()
        return end
    }

    /// Ends all workers that nobody has, and the thread; those that are taken end when they are given back.
    func shutDown() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            self.state.wakeAll()
            return state.isStopped
        }
        guard !wasStopped else { return }
        ring()
        thread.withLock { $0 }?.blockingJoin()
    }

    /// An idle worker; nil after a while without one.
    private func blockingIdle() throws(WorkerPool.Stopped) -> WorkerProcess? {
        try state.blockingWait(atMost: .milliseconds(50)) { state throws(WorkerPool.Stopped) in
            if state.isStopped { throw WorkerPool.Stopped() }
            return state.idle.popLast()
        }
    }

    private func work() {
        while let task = nextTask() {
            switch task {
            case .start: start()
            case .bury(let worker): _ = worker.end()
            case .watch(let workers, let time): watch(workers, until: time)
            }
        }
        let rest = state.withLock { state in
            defer { (state.idle, state.dismissed) = ([], []) }
            return state.idle + state.dismissed
        }
        for worker in rest { _ = worker.end() }
    }

    private func nextTask() -> Task? {
        let now = SystemTimekeeper().now
        return state.withLock { state in
            if state.isStopped { return nil }
            if let worker = state.dismissed.popLast() { return .bury(worker) }
            let isShort = state.running.count < workerCount
            if isShort, now >= state.nextStart { return .start }
            return .watch(
                state.running.filter { !state.noticed.contains($0.id) }, until: isShort ? state.nextStart : nil)
        }
    }

    private func start() {
        let result = Result { () throws(WorkerLaunch.Failure) in try startProtected() }
        let isFirstFailure = state.withLock { state in
            let isFirst = state.delay == Self.shortestDelay
            switch result {
            case .success(let worker):
                state.running.append(worker)
                state.idle.append(worker)
                (state.delay, state.nextStart) = (Self.shortestDelay, .zero)
            case .failure:
                state.nextStart = SystemTimekeeper().now + state.delay
                state.delay = min(state.delay * 2, Self.longestDelay)
            }
            if state.first == nil { state.first = result.map(\.protections) }
            self.state.wakeAll()
            return isFirst
        }
        guard case .failure(let failure) = result else { return }
        // One that somebody killed at once is no news.
        logger.log(
            isFirstFailure ? .warning : .error, "a decode worker could not be started",
            ["reason": .string(failure.description)])
    }

    /// A worker that is protected by as much as those before it.
    private func startProtected() throws(WorkerLaunch.Failure) -> WorkerProcess {
        let worker = try configuration.launch.start()
        let required = requirement ?? (try? state.withLock { $0.first }?.get())
        guard let required, !worker.protections.isAtLeast(required) else { return worker }
        _ = worker.end()
        throw WorkerLaunch.Failure(description: "a worker is protected by \(worker.protections) of \(required)")
    }

    /// Waits until a worker ends, the bell rings or the time has come; buries the worker if it was idle.
    private func watch(_ workers: [WorkerProcess], until time: Duration?) {
        var entries = [pollfd(fd: bell.hear.descriptor, events: Int16(POLLIN), revents: 0)]
        // No events: the end of a worker is reported whether asked for or not, and its answers are not for this thread.
        entries += workers.map { pollfd(fd: $0.socket.descriptor, events: 0, revents: 0) }
        let now = SystemTimekeeper().now
        let rest = time.map { max(1, ($0 - now).seconds * 1_000) } ?? .infinity
        let isTime = unsafe poll(&entries, nfds_t(entries.count), CInt(min(rest, Self.idleLook))) == 0
        if isTime { lookAtIdle() }
        while !bell.hear.receive(count: 1).isEmpty {}
        for (worker, entry) in zip(workers, entries.dropFirst()) where entry.revents != 0 {
            let wasIdle = state.withLock { state in
                if state.takeIdle({ $0 === worker }) != nil { return true }
                state.noticed.insert(worker.id)
                return false
            }
            if wasIdle { part(with: worker, over: worker.unrest ?? .gone) }
        }
    }

    /// Ends a worker that works though nobody has asked it for anything.
    private func lookAtIdle() {
        while let worker = state.withLock({ $0.takeIdle(\.isBusyForNobody) }) {
            part(with: worker, over: worker.unrest ?? .gone)
        }
    }

    private func ring() {
        // Where nobody listens any more, or it rings already, one more makes no difference.
        _ = bell.ring.send([0])
    }
}

extension WorkerRoster.State {
    /// One of the idle workers, which nobody else will have.
    fileprivate mutating func takeIdle(_ isMeant: (WorkerProcess) -> Bool) -> WorkerProcess? {
        idle.firstIndex(where: isMeant).map { idle.remove(at: $0) }
    }

    fileprivate mutating func forget(_ worker: WorkerProcess) {
        running.removeAll { $0 === worker }
        noticed.remove(worker.id)
    }
}
