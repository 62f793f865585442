import TestSupport
import Testing

@testable import Coordination

/// Tasks that sleep until a time of the system's clock, and the queue as a value.
@Suite(.timeLimit(.minutes(1)))
struct TimerQueueTests {
    @Test func `all sleepers wake, the last one not before its time`() async throws {
        let queue = try #require(TimerQueue.shared)
        let now = SystemTimekeeper().now
        let woken = Locked<[Int]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in [3, 1, 2, 0] {
                group.addTask {
                    try? await queue.sleep(until: now + .milliseconds(20 * number))
                    woken.withLock { $0.append(number) }
                }
            }
        }
        #expect(woken.withLock { $0.count } == 4)
        #expect(SystemTimekeeper().now >= now + .milliseconds(60))
    }

    @Test func `a canceled sleeper wakes at once, before and after its arrival`() async throws {
        let queue = try #require(TimerQueue.shared)
        for _ in 0..<1_000 {
            let task = Task { try await queue.sleep(until: SystemTimekeeper().now + .seconds(3_600)) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `canceled sleepers leave few entries`() async throws {
        let queue = try #require(TimerQueue { SystemTimekeeper().now })
        let kept = Task { try await queue.sleep(until: SystemTimekeeper().now + .seconds(3_600)) }
        for _ in 0..<5_000 {
            let task = Task.immediate { try await queue.sleep(until: SystemTimekeeper().now + .seconds(3_600)) }
            task.cancel()
            _ = try? await task.value
        }
        #expect(queue.entryCount <= 1_100)
        kept.cancel()
        await #expect(throws: CancellationError.self) { try await kept.value }
    }

    @Test func `sleepers of a value wake in order of time, canceled ones never`() async throws {
        let state = Locked(TimerQueueState())
        let deadlines = [5, 3, 9, 1, 7, 3, 8, 2].map { Duration.seconds($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ids = deadlines.map { _ in state.withLock { $0.register() } }
            let arrived = EventCounter()
            for (id, deadline) in zip(ids, deadlines) {
                group.addTask {
                    try await withCheckedThrowingContinuation { sleeper in
                        _ = state.withLock { $0.add(sleeper, id: id, until: deadline) }
                        arrived.increment()
                    }
                }
            }
            await arrived.reached(deadlines.count)
            #expect(state.withLock { $0.first } == .seconds(1))
            state.withLock { $0.cancel(ids[3]) }?.resume()
            let early = state.withLock { $0.due(at: .seconds(3), unlessFirstIs: nil) } ?? []
            #expect(early.count == 3)
            #expect(state.withLock { $0.first } == .seconds(5))
            let late = state.withLock { $0.due(at: .seconds(9), unlessFirstIs: .seconds(5)) } ?? []
            #expect(late.count == 4)
            #expect(state.withLock { $0.due(at: .seconds(99), unlessFirstIs: nil) } == nil)
            for sleeper in early + late { sleeper.resume() }
            try await group.waitForAll()
        }
    }
}
