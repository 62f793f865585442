import Coordination
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConditionGuardedTests {
    @Test func `an available value is returned without a wait`() {
        let guarded = ConditionGuarded([1, 2])
        #expect(guarded.blockingWait { $0.popLast() } == 2)
        #expect(guarded.withLock { $0 } == [1])
    }

    @Test func `a waiting thread wakes at its change`() throws {
        let guarded = ConditionGuarded([Int]())
        let found = Locked(0)
        let thread = try WorkThread(named: "waits") {
            let number = guarded.blockingWait { $0.popLast() }
            found.withLock { $0 = number }
        }
        guarded.withLock { numbers in
            numbers.append(7)
            guarded.wakeOne()
        }
        thread.blockingJoin()
        #expect(found.withLock { $0 } == 7)
    }

    @Test func `all waiting threads wake together`() throws {
        let guarded = ConditionGuarded(false)
        let threads = try (0..<4).map { _ in try WorkThread(named: "waits") { guarded.blockingWait { $0 ? () : nil } } }
        guarded.withLock { $0 = true }
        guarded.wakeAll()
        for thread in threads { thread.blockingJoin() }
    }

    @Test func `a wait ends without a value at its timeout`() {
        let guarded = ConditionGuarded([Int]())
        #expect(guarded.blockingWait(atMost: .milliseconds(5)) { $0.popLast() } == nil)
        #expect(guarded.blockingWait(atMost: .zero) { $0.popLast() } == nil)
        guarded.withLock { $0 = [3] }
        #expect(guarded.blockingWait(atMost: .zero) { $0.popLast() } == 3)
    }

    @Test func `an error thrown by the body ends the wait and releases the lock`() {
        let guarded = ConditionGuarded(0)
        #expect(throws: Rejection.self) {
            try guarded.blockingWait { (_) throws(Rejection) -> Int? in throw Rejection() }
        }
        #expect(guarded.withLock { $0 } == 0)
    }
}

private struct Rejection: Error {}
