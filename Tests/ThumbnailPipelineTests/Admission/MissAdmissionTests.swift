import Coordination
import TestSupport
import Testing

@testable import ThumbnailPipeline

/// The maximum wait of misses: the rule, and its use with a real queue.
@Suite(.timeLimit(.minutes(1)))
struct MissAdmissionTests {
    private let time = ManualTimekeeper()

    @Test(arguments: [
        // A queue that was recently empty holds a burst.
        (Duration.zero, Duration.seconds(1)), (.seconds(1), .seconds(1)),
        // A queue that has existed for longer than the maximum wait is too long.
        (.seconds(1) + .nanoseconds(1), .milliseconds(500)), (.seconds(60), .milliseconds(500)),
    ])
    func `a standing queue has half the queue timeout of a burst`(age: Duration, queueTimeout: Duration) {
        let backlog = Backlog(count: 10, delay: .milliseconds(700), age: age)
        #expect(MissAdmission.queueTimeout(behind: backlog, maximumDelay: .seconds(1)) == queueTimeout)
    }

    @Test func `a miss is rejected while it would wait too long, and no longer`() async throws {
        let workers = WorkerPool(count: 2, maximumQueued: 1_000, name: "test", timekeeper: time)
        defer { workers.shutDown() }
        let admission = MissAdmission(lanes: lanes(workers), maximumDelay: .seconds(1))
        // Jobs take a hundred milliseconds each.
        try await workers.run { [time] _ in time.advance(by: .milliseconds(100)) }
        let gate = ThreadGate()
        let running = (0..<2).map { _ in Task { try await workers.run { _ in gate.pass() } } }
        await gate.arrivals(2)
        var queued = (0..<20).map { _ in Task.immediate { try await workers.run { _ in } } }
        #expect(workers.queuedCount == 20)
        #expect(admission.rejection(in: .small, for: .client(0)) == nil)
        queued.append(Task.immediate { try await workers.run { _ in } })
        #expect(workers.queuedCount == 21)
        #expect(admission.rejection(in: .small, for: .client(0)) == WorkerPool.Full(delay: .milliseconds(1_050)))
        #expect(throws: WorkerPool.Full.self) { try admission.admit(to: .small, for: .client(0)) }
        // From now on the flood has lasted longer than the maximum wait.
        time.advance(by: .seconds(1))
        #expect(admission.queueTimeout(in: .small, for: .client(0)) == .seconds(1))
        time.advance(by: .nanoseconds(1))
        #expect(admission.queueTimeout(in: .small, for: .client(0)) == .milliseconds(500))
        gate.open()
        for task in running + queued { try await task.value }
        #expect(admission.rejection(in: .small, for: .client(0)) == nil)
        #expect(admission.queueTimeout(in: .small, for: .client(0)) == .seconds(1))
    }

    @Test func `workers without a queue accept any work`() async throws {
        let workers = WorkerPool(count: 2, maximumQueued: 1_000, name: "test", timekeeper: time)
        defer { workers.shutDown() }
        let admission = MissAdmission(lanes: lanes(workers), maximumDelay: .zero)
        try await workers.run { [time] _ in time.advance(by: .seconds(60)) }
        let gate = ThreadGate()
        let running = (0..<2).map { _ in Task { try await workers.run { _ in gate.pass() } } }
        await gate.arrivals(2)
        let queued = Task.immediate { try await workers.run { _ in } }
        #expect(workers.queuedCount == 1)
        #expect(admission.rejection(in: .small, for: .client(0)) == nil)
        gate.open()
        for task in running + [queued] { try await task.value }
    }

    @Test func `each lane is checked by its own queue`() async throws {
        let workers = WorkerPool(count: 1, maximumQueued: 1_000, name: "test", timekeeper: time)
        defer { workers.shutDown() }
        let lanes = lanes(workers)
        let admission = MissAdmission(lanes: lanes, maximumDelay: .seconds(1))
        let gate = Gate()
        // Two seconds of expensive work that has its turn, and one more that waits, which is always allowed.
        let expensive = (0..<2).map { _ in
            Task.immediate { try await lanes.expensiveLimiter.run(cost: .seconds(2)) { await gate.pass() } }
        }
        #expect(lanes.expensiveLimiter.backlog.count == 1)
        #expect(admission.rejection(in: .expensive, for: .client(0)) == WorkerPool.Full(delay: .seconds(4)))
        #expect(admission.rejection(in: .small, for: .client(0)) == nil)
        gate.open()
        for task in expensive { try await task.value }
        #expect(admission.rejection(in: .expensive, for: .client(0)) == nil)
        // Vice versa, a long queue of small work does not reject expensive work.
        let hold = ThreadGate()
        let small = (0..<3).map { _ in Task.immediate { try await workers.run { _ in hold.pass() } } }
        await hold.arrivals(1)
        #expect(workers.queuedCount == 2)
        time.advance(by: .seconds(2))
        #expect(admission.rejection(in: .small, for: .client(0)) == WorkerPool.Full(delay: .seconds(2)))
        #expect(admission.rejection(in: .expensive, for: .client(0)) == nil)
        hold.open()
        for task in small { try await task.value }
    }

    /// `workers` is the small lane; the expensive lane has a single turn.
    private func lanes(_ workers: WorkerPool) -> WorkLanes {
        let expensive = WorkerPool(count: 1, maximumQueued: 10, name: "test expensive", timekeeper: time)
        expensive.shutDown()
        return WorkLanes(small: workers, expensive: expensive, maximumWaiting: 10, timekeeper: time)
    }
}
