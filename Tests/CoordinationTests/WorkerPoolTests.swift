import Coordination
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WorkerPoolTests {
    @Test func `work runs on a thread of the pool and returns its value`() async throws {
        let pool = WorkerPool(count: 2, maximumQueued: 10, name: "test")
        defer { pool.shutDown() }
        let value = try await pool.run { _ in 6 * 7 }
        #expect(value == 42)
    }

    @Test func `an error is rethrown unchanged`() async {
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        await #expect(throws: Failure.self) { try await pool.run { _ in throw Failure() } }
    }

    @Test func `a full queue rejects at once, until its bound is raised`() async throws {
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        defer { pool.shutDown() }
        let door = ThreadGate()
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        let queued = Task.immediate { try await pool.run { _ in } }
        #expect(pool.queuedCount == 1)
        await #expect(throws: WorkerPool.Full.self) { try await pool.run { _ in } }
        pool.setMaximumQueued(2)
        let second = Task.immediate { try await pool.run { _ in } }
        #expect(pool.queuedCount == 2)
        door.open()
        try await running
        for task in [queued, second] { try await task.value }
    }

    @Test func `submitted work runs in its turn, is rejected if the queue is full, and is notified of the shutdown`()
        async throws
    {
        let pool = WorkerPool(count: 1, maximumQueued: 2, name: "test")
        let door = ThreadGate()
        let heard = Locked<[String]>([])
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        #expect(pool.submit { isCancelled in heard.withLock { $0.append("later \(isCancelled)") } })
        #expect(
            pool.submit(priority: .finishing) { isCancelled in heard.withLock { $0.append("first \(isCancelled)") } })
        #expect(!pool.submit { _ in heard.withLock { $0.append("refused") } })
        door.open()
        try await running
        // Wait for both jobs: the pool has one thread.
        try await pool.run { _ in }
        #expect(heard.withLock { $0 } == ["first false", "later false"])
        let second = ThreadGate()
        async let last: Void = pool.run { _ in second.pass() }
        await second.arrivals(1)
        let dropped = EventCounter()
        #expect(
            pool.submit { isCancelled in
                heard.withLock { $0.append("dropped \(isCancelled)") }
                dropped.increment()
            })
        let stopping = Task.detached { pool.shutDown() }
        await dropped.reached(1)
        #expect(heard.withLock { $0.last } == "dropped true")
        second.open()
        try await last
        await stopping.value
        #expect(!pool.submit { _ in })
    }

    @Test func `a job that would wait too long is rejected at any length of the queue`() async throws {
        let time = ManualTimekeeper()
        let pool = WorkerPool(count: 1, maximumQueued: 100, name: "test", timekeeper: time)
        defer { pool.shutDown() }
        // The pool's only record of job times is one job of a second.
        try await pool.run { _ in time.advance(by: .seconds(1)) }
        let door = ThreadGate()
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        // As many jobs as there are threads may always wait, because running jobs may end at any moment.
        let first = Task.immediate { try await pool.run(queueTimeout: .zero) { _ in } }
        #expect(pool.queuedCount == 1)
        await #expect(throws: WorkerPool.Full(delay: .seconds(1))) {
            try await pool.run(queueTimeout: .milliseconds(999)) { _ in }
        }
        let second = Task.immediate { try await pool.run(queueTimeout: .seconds(1)) { _ in } }
        #expect(pool.queuedCount == 2)
        let patient = Task.immediate { try await pool.run { _ in } }
        #expect(pool.queuedCount == 3)
        #expect(pool.backlog == Backlog(count: 3, delay: .seconds(3), age: .zero))
        door.open()
        try await running
        for task in [first, second, patient] { try await task.value }
        #expect(pool.backlog == Backlog(count: 0, delay: .zero, age: .zero))
    }

    @Test func `the estimated wait is never shorter than the time that the first job has waited`() async throws {
        let time = ManualTimekeeper()
        let pool = WorkerPool(count: 1, maximumQueued: 100, name: "test", timekeeper: time)
        defer { pool.shutDown() }
        let door = ThreadGate()
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        let queued = Task.immediate { try await pool.run { _ in } }
        #expect(pool.queuedCount == 1)
        time.advance(by: .seconds(3))
        #expect(pool.backlog == Backlog(count: 1, delay: .seconds(3), age: .seconds(3)))
        await #expect(throws: WorkerPool.Full(delay: .seconds(3))) {
            try await pool.run(queueTimeout: .seconds(2)) { _ in }
        }
        door.open()
        try await running
        try await queued.value
    }

    @Test func `a queue emptied by a cancellation has no backlog`() async throws {
        let time = ManualTimekeeper()
        let pool = WorkerPool(count: 1, maximumQueued: 100, name: "test", timekeeper: time)
        defer { pool.shutDown() }
        let door = ThreadGate()
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        let queued = Task.immediate { try await pool.run { _ in } }
        #expect(pool.queuedCount == 1)
        time.advance(by: .seconds(3))
        queued.cancel()
        #expect(pool.queuedCount == 0)
        #expect(pool.backlog.age == .zero)
        door.open()
        try await running
    }

    @Test func `a job canceled while queued never starts`() async throws {
        let pool = WorkerPool(count: 1, maximumQueued: 5, name: "test")
        defer { pool.shutDown() }
        let door = ThreadGate()
        let started = Locked(false)
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        let queued = Task.immediate { try await pool.run { _ in started.withLock { $0 = true } } }
        #expect(pool.queuedCount == 1)
        queued.cancel()
        await #expect(throws: CancellationError.self) { try await queued.value }
        door.open()
        try await running
        #expect(started.withLock { !$0 })
    }

    /// Work that runs until its task is canceled.
    private func spinning(in pool: WorkerPool) async -> Task<Void, any Error> {
        let started = EventCounter()
        let task = Task {
            try await pool.run { token in
                started.increment()
                while !token.shouldStop { sched_yield() }
                try token.check()
            }
        }
        await started.reached(1)
        return task
    }

    @Test func `running work sees in its token that its caller has left`() async throws {
        let pool = WorkerPool(count: 1, maximumQueued: 5, name: "test")
        defer { pool.shutDown() }
        let task = await spinning(in: pool)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `running work sees in its token that its time is over`() async throws {
        let pool = WorkerPool(count: 1, maximumQueued: 5, name: "test")
        defer { pool.shutDown() }
        await #expect(throws: DeadlineExceeded.self) {
            try await pool.run(timeLimit: .milliseconds(5)) { token in
                while !token.shouldStop { sched_yield() }
                try token.check()
            }
        }
    }

    @Test func `finishing work precedes starting work, each in order of arrival`() async throws {
        let pool = WorkerPool(count: 1, maximumQueued: 10, name: "test")
        defer { pool.shutDown() }
        let door = ThreadGate()
        let order = Locked<[String]>([])
        async let running: Void = pool.run { _ in door.pass() }
        await door.arrivals(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let jobs: [(String, WorkerPool.Priority)] = [
                ("decode 1", .starting), ("decode 2", .starting), ("render 1", .finishing), ("render 2", .finishing),
            ]
            for (index, job) in jobs.enumerated() {
                group.addImmediateTask {
                    try await pool.run(priority: job.1) { _ in order.withLock { $0.append(job.0) } }
                }
                #expect(pool.queuedCount == index + 1)
            }
            door.open()
            try await group.waitForAll()
        }
        try await running
        #expect(order.withLock { $0 } == ["render 1", "render 2", "decode 1", "decode 2"])
    }

    @Test func `shutting down cancels running work`() async {
        let pool = WorkerPool(count: 1, maximumQueued: 10, name: "test")
        let task = await spinning(in: pool)
        pool.shutDown()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `shutting down ends every thread with its last act and rejects later work`() async {
        let exits = Locked(0)
        let pool = WorkerPool(count: 3, maximumQueued: 10, name: "test") { exits.withLock { $0 += 1 } }
        pool.shutDown()
        #expect(exits.withLock { $0 } == 3)
        await #expect(throws: WorkerPool.Stopped.self) { try await pool.run { _ in } }
    }
}

private struct Failure: Error {}
