import Coordination

final class WriteTasks: Sendable {
    private struct Write {
        let length: Int
        let perform: @Sendable () async throws -> Void
    }

    private struct State {
        var waiting = Deque<Write>()
        var running = 0
    }

    private let count: Int
    private let queue: SharedStoreStatistics.Queue
    private let gate: StoreGate
    private let state = Locked(State())
    private let running = RunningTasks()

    init(count: Int, of queue: SharedStoreStatistics.Queue, gate: StoreGate) {
        self.count = count
        self.queue = queue
        self.gate = gate
    }

    func add(_ length: Int, _ perform: @escaping @Sendable () async throws -> Void) {
        let needsTask = state.withLock { state in
            state.waiting.append(Write(length: length, perform: perform))
            guard state.running < count else { return false }
            state.running += 1
            return true
        }
        guard needsTask else { return }
        running.begin()
        Task.detached { [self] in
            while let write = next() { await run(write) }
            running.end()
        }
    }

    /// Waits for writes, and drops writes that do not start in time.
    func shutDown(timeLimit: Duration) async {
        await running.waitUntilIdle(within: timeLimit, by: gate.timekeeper)
        let dropped = state.withLock { state in
            defer { state.waiting = Deque() }
            return state.waiting.elements
        }
        for write in dropped { gate.endWrite(of: write.length, in: queue, with: .dropped) }
    }

    private func run(_ write: Write) async {
        do {
            try await write.perform()
            gate.endWrite(of: write.length, in: queue, with: .written)
        } catch {
            let isFull = (error as? any ObjectContainerFailure)?.isFull ?? false
            gate.endWrite(of: write.length, in: queue, with: .failed("\(error)", isFull: isFull))
        }
    }

    private func next() -> Write? {
        state.withLock { state in
            if let write = state.waiting.popFirst() { return write }
            state.running -= 1
            return nil
        }
    }
}

/// Counts running tasks, so that a shutdown can wait for them.
final class RunningTasks: Sendable {
    private struct State {
        var count = 0
        var waiters: [Promise<Void>] = []
    }

    private let state = Locked(State())

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiters = state.withLock { state -> [Promise<Void>] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    func waitUntilIdle(within limit: Duration, by timekeeper: any Timekeeper) async {
        let isIdle = Promise<Void>()
        let isRunning = state.withLock { state in
            if state.count > 0 { state.waiters.append(isIdle) }
            return state.count > 0
        }
        if isRunning { await isIdle.value(within: limit, by: timekeeper, or: ()) }
    }
}
