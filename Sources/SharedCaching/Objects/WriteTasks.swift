import Coordination

/// Admitted writes that a few tasks perform in order.
final class WriteTasks: Sendable {
    private struct Write {
        let length: Int
        let perform: @Sendable () async throws -> Void
    }

    private struct State {
        var waiting = Deque<Write>()
        var running = 0
        /// Completed when nothing is being written.
        var whenIdle: [OneTimeResult<Bool>] = []
    }

    private let count: Int
    private let queue: SharedStoreStatistics.Queue
    private let gate: StoreGate
    private let state = Locked(State())

    /// Creates the writes of `queue`, for `count` tasks.
    init(count: Int, of queue: SharedStoreStatistics.Queue, gate: StoreGate) {
        (self.count, self.queue, self.gate) = (count, queue, gate)
    }

    /// Queues a write that was admitted with this length.
    func add(_ length: Int, _ perform: @escaping @Sendable () async throws -> Void) {
        let needsTask = state.withLock { state in
            state.waiting.append(Write(length: length, perform: perform))
            guard state.running < count else { return false }
            state.running += 1
            return true
        }
        guard needsTask else { return }
        Task.detached { [self] in
            while let write = next() { await end(write) }
        }
    }

    /// Waits for writes to end, and drops the ones that do not start in time.
    func stop(timeLimit: Duration) async {
        let answer = OneTimeResult<Bool>()
        let isIdle = state.withLock { state in
            if state.running > 0 { state.whenIdle.append(answer) }
            return state.running == 0
        }
        if !isIdle { _ = await answer.value(within: timeLimit, by: gate.timekeeper, or: false) }
        let dropped = state.withLock { state in
            defer { state.waiting = Deque() }
            return state.waiting.elements
        }
        for write in dropped { gate.end(write.length, in: queue, .dropped) }
    }

    private func end(_ write: Write) async {
        do {
            try await write.perform()
            gate.end(write.length, in: queue, .written)
        } catch {
            let isFull = (error as? any ObjectContainerFailure)?.isFull ?? false
            gate.end(write.length, in: queue, .failed("\(error)", isFull: isFull))
        }
    }

    /// Returns the next write; nil if there is none, so that a task ends.
    private func next() -> Write? {
        let (write, idle) = state.withLock { state -> (Write?, [OneTimeResult<Bool>]) in
            if let write = state.waiting.popFirst() { return (write, []) }
            state.running -= 1
            guard state.running == 0 else { return (nil, []) }
            defer { state.whenIdle = [] }
            return (nil, state.whenIdle)
        }
        for answer in idle { answer.give(true) }
        return write
    }
}
