import Testing

@testable import Coordination

struct FairQueueTests {
    private var queue = FairQueue<String>(maximumConcurrency: 2, maximumWaiting: 4)

    /// Enters work with this cost in seconds.
    private mutating func enter(
        _ seconds: Int, of flow: Flow = .client(0), queueTimeout: Duration? = nil, at now: Duration = .zero,
        _ continuation: String = ""
    ) -> (id: UInt64, admission: FairQueue<String>.Admission) {
        let id = queue.newID()
        let admission = queue.enter(
            id, of: flow, cost: .seconds(seconds), queueTimeout: queueTimeout, at: now, continuation: continuation)
        return (id, admission)
    }

    @Test mutating func `work runs up to the limit, and the rest waits in order of arrival`() {
        let first = enter(1)
        #expect(first.admission == .runs)
        #expect(enter(1).admission == .runs)
        #expect(enter(1, "third").admission == .waits)
        #expect(enter(1, "fourth").admission == .waits)
        #expect(queue.runningCount == 2 && queue.waitingCount == 2)
        #expect(queue.finish(first.id, at: .seconds(1)) == "third")
        #expect(queue.runningCount == 2 && queue.waitingCount == 1)
        // A turn is returned only once.
        #expect(queue.finish(first.id, at: .seconds(1)) == nil)
        #expect(queue.waitingCount == 1)
    }

    @Test mutating func `a waiter that leaves the queue never runs, and no longer counts`() {
        let running = enter(1)
        _ = enter(1)
        let third = enter(8, "third")
        _ = enter(1, "fourth")
        #expect(queue.leave(third.id) == "third")
        #expect(queue.leave(third.id) == nil)
        #expect(queue.leave(running.id) == nil)
        #expect(queue.backlog(at: .zero) == Backlog(count: 1, delay: .seconds(1.5), age: .zero))
        #expect(queue.finish(running.id, at: .zero) == "fourth")
    }

    @Test mutating func `the estimated wait is the remaining work and the waiters' work divided by the slots`() {
        _ = enter(4)
        _ = enter(2)
        #expect(queue.backlog(at: .zero).delay == .seconds(3))
        _ = enter(6)
        #expect(queue.backlog(at: .seconds(1)).delay == .seconds(5))
        // Work that exceeds its cost may end at any moment.
        #expect(queue.backlog(at: .seconds(3)) == Backlog(count: 1, delay: .seconds(3.5), age: .seconds(3)))
        // The delay is never less than the time that the first entry has already waited.
        #expect(queue.backlog(at: .seconds(60)).delay == .seconds(60))
    }

    @Test mutating func `there is no wait while a slot is free`() {
        _ = enter(100)
        #expect(queue.backlog(at: .zero) == Backlog(count: 0, delay: .zero, age: .zero))
    }

    @Test mutating func `a caller that would wait too long is rejected, unless fewer wait than there are slots`() {
        _ = enter(4)
        _ = enter(4)
        #expect(enter(4, queueTimeout: .zero).admission == .waits)
        #expect(enter(4, queueTimeout: .zero).admission == .waits)
        #expect(enter(4, queueTimeout: .seconds(7)).admission == .rejected(.seconds(8)))
        #expect(enter(4, queueTimeout: .seconds(8)).admission == .waits)
        #expect(enter(4).admission == .waits)
        // The queue has its own limit.
        #expect(enter(4).admission == .rejected(.seconds(12)))
    }

    @Test mutating func `waits are in this machine's measured time`() {
        for number in 0..<200 {
            let work = enter(1, at: .seconds(number * 3))
            _ = queue.finish(work.id, at: .seconds(number * 3 + 3))
        }
        #expect(abs(queue.pace - 3) < 0.001)
        // One entry that hangs hardly affects the estimate for the next.
        let hanging = enter(1, at: .seconds(1_000))
        _ = queue.finish(hanging.id, at: .seconds(9_000))
        #expect(queue.pace < 4)
    }

    @Test mutating func `the queue's age is the time since it was last empty`() {
        let first = enter(1)
        _ = enter(1)
        let third = enter(1, at: .seconds(1))
        _ = enter(1, at: .seconds(2))
        #expect(queue.backlog(at: .seconds(5)).age == .seconds(4))
        _ = queue.finish(first.id, at: .seconds(5))
        #expect(queue.backlog(at: .seconds(5)).age == .seconds(4))
        _ = queue.finish(third.id, at: .seconds(6))
        #expect(queue.backlog(at: .seconds(6)).age == .zero)
    }

    @Test mutating func `another flow goes ahead of a flow that fills the queue`() {
        let flood = (0..<5).map { enter(2, of: .client(1), "flood \($0)") }
        #expect(queue.backlog(of: .client(1), at: .zero) == Backlog(count: 3, delay: .seconds(5), age: .zero))
        #expect(queue.backlog(of: .client(2), at: .zero) == Backlog(count: 0, delay: .seconds(2), age: .zero))
        #expect(enter(1, of: .client(1), queueTimeout: .seconds(2)).admission == .rejected(.seconds(5)))
        #expect(enter(1, of: .client(2), queueTimeout: .seconds(2), "other").admission == .waits)
        #expect(queue.finish(flood[0].id, at: .seconds(2)) == "other")
        #expect(queue.finish(flood[1].id, at: .seconds(2)) == "flood 2")
    }

    @Test mutating func `a flood does not make the queue of a tenant older`() {
        let flood = (0..<5).map { enter(1, of: .client(1), "flood \($0)") }
        #expect(queue.backlog(of: .client(1), at: .seconds(9)).age == .seconds(9))
        #expect(queue.backlog(of: .tenant(2), at: .seconds(9)) == Backlog(count: 0, delay: .zero, age: .zero))
        #expect(enter(1, of: .tenant(2), at: .seconds(9), "other").admission == .waits)
        #expect(queue.backlog(of: .tenant(2), at: .seconds(10)).age == .seconds(1))
        #expect(queue.finish(flood[0].id, at: .seconds(11)) == "other")
        #expect(queue.backlog(of: .tenant(2), at: .seconds(12)).age == .zero)
        #expect(queue.backlog(of: .client(1), at: .seconds(12)).age == .seconds(12))
    }

    @Test mutating func `flows take turns by cost, and each in its order of arrival`() {
        let running = [enter(1, of: .client(1)), enter(1, of: .client(2))]
        _ = enter(1, of: .client(1), "a")
        _ = enter(4, of: .client(2), "B")
        _ = enter(1, of: .client(1), "b")
        _ = enter(4, of: .client(2), "C")
        var order = [queue.finish(running[0].id, at: .seconds(1))]
        for id in 3...5 as ClosedRange<UInt64> { order.append(queue.finish(id, at: .seconds(1))) }
        #expect(order == ["a", "B", "b", "C"])
    }

    @Test mutating func `a flow with twice the share has twice the turns`() {
        queue = FairQueue(maximumConcurrency: 1, maximumWaiting: 9)
        var ids = ["": enter(1, of: .client(3)).id]
        for number in 1...4 { ids["a\(number)"] = enter(2, of: .client(1, weight: 2), "a\(number)").id }
        for number in 1...2 { ids["b\(number)"] = enter(2, of: .client(2), "b\(number)").id }
        var order = [""]
        for second in 1...6 {
            guard let last = order.last, let id = ids[last], let next = queue.finish(id, at: .seconds(second)) else {
                break
            }
            order.append(next)
        }
        #expect(order == ["", "a1", "b1", "a2", "a3", "b2", "a4"])
    }

    @Test mutating func `a full queue makes room for a flow that has less of it`() {
        for number in 0..<6 { _ = enter(2, of: .client(1), "flood \(number)") }
        #expect(enter(2, of: .client(1)).admission == .rejected(.seconds(6)))
        #expect(enter(1, of: .tenant(2), "other").admission == .replaces("flood 5"))
        #expect(queue.waitingCount == 4)
        #expect(
            enter(9, of: .client(3)).admission == .rejected(.milliseconds(2_500)),
            "it would have more than the flood has left")
    }

    @Test mutating func `clients may share a flow, and tenants do not`() {
        _ = (enter(1, of: .tenant(1)), enter(1, of: .tenant(1)), enter(1, of: .tenant(1)))
        #expect(queue.waitingCount(of: .tenant(1)) == 1 && queue.waitingCount(of: .client(1)) == 0)
        #expect(queue.runningCount(of: .tenant(1)) == 2 && queue.runningCount(of: .tenant(1 + 1_024)) == 0)
        #expect(Flow.client(1).id == Flow.client(1 + 1_024).id)
    }

    @Test mutating func `a flow that was idle is not ahead for that`() {
        for second in 0..<10 {
            let work = enter(1, of: .client(1), at: .seconds(second))
            _ = queue.finish(work.id, at: .seconds(second + 1))
        }
        let running = [enter(1, of: .client(1)), enter(1, of: .client(1))]
        _ = enter(1, of: .client(2), "2a")
        _ = enter(1, of: .client(1), "1a")
        _ = enter(1, of: .client(2), "2b")
        _ = enter(1, of: .client(1), "1b")
        #expect(queue.finish(running[0].id, at: .seconds(20)) == "2a")
        #expect(queue.finish(running[1].id, at: .seconds(20)) == "1a")
    }

    @Test mutating func `work that leaves the queue changes no order within its flow`() {
        let first = enter(1, of: .client(1))
        _ = enter(1, of: .client(2))
        let left = enter(100, of: .client(1))
        _ = enter(1, of: .client(1), "earlier")
        _ = queue.leave(left.id)
        _ = enter(1, of: .client(1), "later")
        #expect(queue.finish(first.id, at: .zero) == "earlier")
    }

    @Test mutating func `work that leaves the queue costs its flow nothing`() {
        let first = enter(1, of: .client(1))
        _ = enter(1, of: .client(2))
        let left = enter(100, of: .client(1))
        _ = queue.leave(left.id)
        _ = enter(2, of: .client(2), "other")
        _ = enter(2, of: .client(1), "kept")
        #expect(queue.waitingCount == 2)
        #expect(queue.finish(first.id, at: .zero) == "other")
        #expect(queue.backlog(of: .client(1), at: .zero).count == 1)
    }
}
