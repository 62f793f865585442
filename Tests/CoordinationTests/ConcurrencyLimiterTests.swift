import Coordination
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyLimiterTests {
    private let turns = ConcurrencyLimiter(maximumConcurrency: 1, maximumWaiting: 10, timekeeper: ManualTimekeeper())

    @Test func `a waiter begins when an earlier turn ends, in order of arrival`() async throws {
        let gate = Gate()
        let order = Locked<[Int]>([])
        let first = Task { [turns] in
            try await turns.run(cost: .seconds(1)) {
                await gate.pass()
                order.withLock { $0.append(0) }
            }
        }
        await gate.arrivals(1)
        var others: [Task<Void, any Error>] = []
        for number in 1...3 {
            others.append(
                Task.immediate { [turns] in
                    try await turns.run(cost: .seconds(1)) { order.withLock { $0.append(number) } }
                })
            #expect(turns.backlog.count == number)
        }
        #expect(turns.runningCount == 1)
        gate.open()
        for task in [first] + others { try await task.value }
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
        #expect(turns.runningCount == 0)
    }

    @Test func `a caller that would wait too long is rejected at once`() async throws {
        let gate = Gate()
        let taken = (0..<2).map { _ in
            Task.immediate { [turns] in try await turns.run(cost: .seconds(1)) { await gate.pass() } }
        }
        #expect(turns.backlog.count == 1)
        await #expect(throws: WorkerPool.Full(delay: .seconds(2))) {
            try await turns.run(cost: .seconds(1), queueTimeout: .seconds(1)) {}
        }
        gate.open()
        for task in taken { try await task.value }
    }

    @Test func `the bound of waiting tasks may change`() async throws {
        let gate = Gate()
        let first = Task { [turns] in try await turns.run(cost: .seconds(1)) { await gate.pass() } }
        await gate.arrivals(1)
        turns.setMaximumWaiting(0)
        await #expect(throws: WorkerPool.Full.self) { try await turns.run(cost: .seconds(1)) {} }
        turns.setMaximumWaiting(1)
        let second = Task.immediate { [turns] in try await turns.run(cost: .seconds(1)) {} }
        #expect(turns.backlog.count == 1)
        gate.open()
        for task in [first, second] { try await task.value }
    }

    @Test func `a canceled waiter never begins, and an error releases the turn`() async throws {
        let gate = Gate()
        let first = Task { [turns] in
            try await turns.run(cost: .seconds(1)) {
                await gate.pass()
                throw Failure()
            }
        }
        await gate.arrivals(1)
        let begun = Locked(false)
        let waiting = Task.immediate { [turns] in
            try await turns.run(cost: .seconds(1)) { begun.withLock { $0 = true } }
        }
        #expect(turns.backlog.count == 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(turns.backlog.count == 0)
        gate.open()
        await #expect(throws: Failure.self) { try await first.value }
        #expect(turns.runningCount == 0 && begun.withLock { !$0 })
    }
}

private struct Failure: Error {}
