import Coordination
import Glibc
import Telemetry

/// Running workers, and a thread that starts, watches and reaps them.
///
/// A caller that acquires a worker owns it until it calls ``release(_:)`` or ``terminate(_:cause:)``. There is one
/// worker more than callers, so that a caller that loses its worker finds another one immediately.
final class WorkerRoster: Sendable {
    fileprivate struct State {
        var running: [WorkerProcess] = []
        /// Idle workers; the last used one is taken first, because its memory is still in the processor's cache.
        var idle: [WorkerProcess] = []
        /// Workers that were killed, but not reaped yet.
        var terminated: [WorkerProcess] = []
        /// Workers that ended while in use; the caller reaps them.
        var endedInUse: Set<pid_t> = []
        var firstProtections: Result<Protections, WorkerLaunch.Failure>?
        var startDelay = WorkerRoster.shortestDelay
        var nextStart = Duration.zero
        var isStopped = false
    }

    private enum NextAction {
        case start
        case reap(WorkerProcess)
        case watch([WorkerProcess], until: Duration?)
    }

    /// The delay after the first failed start; it doubles each time.
    private static let shortestDelay = Duration.milliseconds(100)
    private static let longestDelay = Duration.seconds(5)

    /// Milliseconds between checks; idle workers must use no CPU time, and free memory at the second check.
    private static let idleCheckInterval = 5_000.0

    private let configuration: SandboxConfiguration
    private let workerCount: Int
    private let lifetime: WorkerLifetime
    /// The protections that workers need; nil uses the first worker's.
    private let requiredProtections: Protections?
    private let metrics: SandboxMetrics
    private let logger: Logger
    private let state = ConditionGuarded(State())
    /// The thread waits for messages on the receiver.
    private let wakeUp: (sender: MessageSocket, receiver: MessageSocket)
    private let thread = Locked<WorkThread?>(nil)

    init(
        _ configuration: SandboxConfiguration, workerCount: Int, lifetime: WorkerLifetime,
        atLeast requiredProtections: Protections? = nil, metrics: SandboxMetrics, logger: Logger
    ) throws(SharedMemoryError) {
        self.lifetime = lifetime
        self.requiredProtections = requiredProtections
        self.configuration = configuration
        self.workerCount = workerCount
        self.metrics = metrics
        self.logger = logger
        wakeUp = try MessageSocket.pair()
        do {
            let thread = try WorkThread(named: "sandbox") { self.run() }
            self.thread.withLock { $0 = thread }
        } catch {
            preconditionFailure("cannot start the sandbox's thread: error \(error.systemError)")
        }
    }

    func blockingProtections() throws(WorkerLaunch.Failure) -> Protections {
        try state.blockingWait { $0.firstProtections }.get()
    }

    var processes: [pid_t] { state.withLock { $0.running.map(\.id) } }

    var idleProcesses: [pid_t] { state.withLock { $0.idle.map(\.id) } }

    /// Waits for an idle worker until the token stops the work.
    func acquire(token: WorkToken) throws -> WorkerProcess {
        while true {
            guard let worker = try blockingIdle() else {
                try token.check()
                continue
            }
            guard let fault = worker.idleFault else { return worker }
            remove(worker, after: fault)
        }
    }

    private func remove(_ worker: WorkerProcess, after fault: WorkerProcess.IdleFault) {
        switch fault {
        case .ended: reap(worker)
        case .forbidden(let call):
            terminateUntrusted(worker, cause: .forbiddenCall, reason: "it tried the system call \(call)")
        case .protocolError(let text): terminateUntrusted(worker, cause: .protocolError, reason: text)
        }
    }

    func release(_ worker: WorkerProcess) {
        // The next image would lack the memory that the worker keeps after a large one.
        if worker.hasGrown {
            terminate(worker, cause: .recycled)
            return
        }
        worker.markIdle()
        // All copies have the same address layout, so a leak from one exposes the others.
        let age = max(lifetime.age(of: worker), worker.template?.isExposed == true ? 1 : 0)
        let isReplaced = state.withLock { state in
            guard !state.isStopped else { return true }
            // If no other worker is idle, an old one stays for up to twice its lifetime.
            guard age < (state.idle.isEmpty ? 2 : 1) else { return true }
            state.idle.append(worker)
            self.state.wakeOne()
            return false
        }
        if isReplaced { terminate(worker, cause: .recycled) }
    }

    /// Kills a worker, which the thread reaps later.
    func terminate(_ worker: WorkerProcess, cause: SandboxMetrics.Cause) {
        kill(worker.id, SIGKILL)
        metrics.recordEnd(cause)
        let isStopped = state.withLock { state in
            state.remove(worker)
            if !state.isStopped { state.terminated.append(worker) }
            return state.isStopped
        }
        if isStopped { _ = worker.end() } else { wakeThread() }
    }

    /// Terminates a worker that an attacker may control, and reports it.
    func terminateUntrusted(_ worker: WorkerProcess, cause: SandboxMetrics.Cause, reason: String) {
        report(worker, cause: cause, reason: reason)
        worker.template?.markExposed()
        terminate(worker, cause: cause)
    }

    private func report(_ worker: WorkerProcess, cause: SandboxMetrics.Cause, reason: String) {
        logger.error(
            "worker process violated the sandbox",
            ["process": .int(Int(worker.id)), "cause": .string(cause.rawValue), "reason": .string(reason)])
    }

    /// Kills the worker if it still runs, and waits until it has ended.
    @discardableResult
    func reap(_ worker: WorkerProcess) -> WorkerEnd {
        let end = worker.end()
        metrics.recordEnd(end.cause)
        if [.crash, .outOfMemory, .forbiddenCall].contains(end.cause) { worker.template?.markExposed() }
        if end.cause == .forbiddenCall {
            report(worker, cause: .forbiddenCall, reason: "it tried a system call")
        } else {
            logger.warning(
                "worker process ended",
                [
                    "process": .int(Int(worker.id)), "cause": .string(end.cause.rawValue), "reason": .string("\(end)"),
                ])
        }
        state.withLock { $0.remove(worker) }
        wakeThread()
        return end
    }

    /// Ends idle workers now; workers in use end when they are returned.
    func shutDown() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            self.state.wakeAll()
            return state.isStopped
        }
        guard !wasStopped else { return }
        wakeThread()
        thread.withLock { $0 }?.blockingJoin()
    }

    private func blockingIdle() throws(WorkerPool.Stopped) -> WorkerProcess? {
        try state.blockingWait(atMost: .milliseconds(50)) { state throws(WorkerPool.Stopped) in
            if state.isStopped { throw WorkerPool.Stopped() }
            return state.idle.popLast()
        }
    }

    private func run() {
        var spawner = WorkerSpawner(configuration.launch, logger: logger)
        defer { spawner.endTemplate() }
        while let action = nextAction() {
            switch action {
            case .start: start(by: &spawner)
            case .reap(let worker): _ = worker.end()
            case .watch(let workers, let time): watch(workers, until: time)
            }
        }
        let remaining = state.withLock { state in
            defer {
                state.idle = []
                state.terminated = []
            }
            return state.idle + state.terminated
        }
        for worker in remaining { _ = worker.end() }
    }

    private func nextAction() -> NextAction? {
        let now = SystemTimekeeper().now
        return state.withLock { state in
            if state.isStopped { return nil }
            if let worker = state.terminated.popLast() { return .reap(worker) }
            let isShort = state.running.count < workerCount
            if isShort, now >= state.nextStart { return .start }
            return .watch(
                state.running.filter { !state.endedInUse.contains($0.id) }, until: isShort ? state.nextStart : nil)
        }
    }

    private func start(by spawner: inout WorkerSpawner) {
        let result = Result { () throws(WorkerLaunch.Failure) in try startProtected(by: &spawner) }
        let isFirstFailure = state.withLock { state in
            let isFirst = state.startDelay == Self.shortestDelay
            switch result {
            case .success(let worker):
                state.running.append(worker)
                state.idle.append(worker)
                state.startDelay = Self.shortestDelay
                state.nextStart = .zero
            case .failure:
                state.nextStart = SystemTimekeeper().now + state.startDelay
                state.startDelay = min(state.startDelay * 2, Self.longestDelay)
            }
            if state.firstProtections == nil { state.firstProtections = result.map(\.protections) }
            self.state.wakeAll()
            return isFirst
        }
        guard case .failure(let failure) = result else { return }
        // The first failure may be a worker that was killed at the start, so only the next one is an error.
        logger.log(
            level: isFirstFailure ? .warning : .error, "a worker process could not be started",
            ["reason": .string(failure.description)])
    }

    private func startProtected(by spawner: inout WorkerSpawner) throws(WorkerLaunch.Failure) -> WorkerProcess {
        let worker = try spawner.start()
        let required = requiredProtections ?? (try? state.withLock { $0.firstProtections }?.get())
        guard let required, !worker.protections.isAtLeast(required) else { return worker }
        _ = worker.end()
        throw WorkerLaunch.Failure(description: "a worker has \(worker.protections), but needs \(required)")
    }

    /// Waits until a worker ends, the thread is woken, or the time has come; reaps workers that ended while idle.
    private func watch(_ workers: [WorkerProcess], until time: Duration?) {
        var entries = [pollfd(fd: wakeUp.receiver.descriptor, events: Int16(POLLIN), revents: 0)]
        // No events are requested: the kernel always reports that a worker ended, and responses are not for this
        // thread.
        entries += workers.map { pollfd(fd: $0.socket.descriptor, events: 0, revents: 0) }
        let now = SystemTimekeeper().now
        let milliseconds = time.map { max(1, ($0 - now).seconds * 1_000) } ?? .infinity
        let isTime = unsafe poll(&entries, nfds_t(entries.count), CInt(min(milliseconds, Self.idleCheckInterval))) == 0
        if isTime {
            endBusyIdleWorkers()
            releaseMemoryOfIdleWorkers()
        }
        while !wakeUp.receiver.receive(count: 1).isEmpty {}
        for (worker, entry) in zip(workers, entries.dropFirst()) where entry.revents != 0 {
            let wasIdle = state.withLock { state in
                if state.takeIdle({ $0 === worker }) != nil { return true }
                state.endedInUse.insert(worker.id)
                return false
            }
            if wasIdle { remove(worker, after: worker.idleFault ?? .ended) }
        }
    }

    private func endBusyIdleWorkers() {
        while let worker = state.withLock({ $0.takeIdle(\.isBusyWhileIdle) }) {
            remove(worker, after: worker.idleFault ?? .ended)
        }
    }

    /// Frees the memory of workers that were idle since the last check; called by the thread.
    func releaseMemoryOfIdleWorkers() {
        while let worker = state.withLock({ $0.takeIdle(\.shouldReleaseMemory) }) {
            worker.releaseMemory()
            state.withLock { state in
                state.idle.append(worker)
                self.state.wakeOne()
            }
        }
        // No caller uses a worker while it is idle.
        state.withLock { state in for worker in state.idle { worker.recordIdle() } }
    }

    private func wakeThread() {
        // If sending fails, a message is already waiting or the thread has ended.
        _ = wakeUp.sender.send([0])
    }
}

extension WorkerRoster.State {
    fileprivate mutating func takeIdle(_ isSuitable: (WorkerProcess) -> Bool) -> WorkerProcess? {
        idle.firstIndex(where: isSuitable).map { idle.remove(at: $0) }
    }

    fileprivate mutating func remove(_ worker: WorkerProcess) {
        running.removeAll { $0 === worker }
        endedInUse.remove(worker.id)
    }
}
