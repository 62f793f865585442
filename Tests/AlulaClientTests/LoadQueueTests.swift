import Testing

@testable import AlulaClient

extension LoadQueue {
    /// Adds a caller to a load; a new load is queued.
    fileprivate mutating func add(_ key: Key, caller: UInt64 = 0, priority: ThumbnailLoader.Priority = .normal) {
        if let load = join(key, caller: caller, priority: priority) { enqueue(load) }
    }
}

/// The order of loads and the delays of retries.
struct LoadQueueTests {
    private func queue(
        _ order: ThumbnailLoader.Order = .fifo, limit: Int = 1, lowLimit: Int = 1
    ) -> LoadQueue<String> {
        LoadQueue(limit: limit, lowLimit: lowLimit, order: order)
    }

    /// Starts and finishes all loads; returns their keys in order.
    private func drain(_ queue: inout LoadQueue<String>) -> [String] {
        var started: [String] = []
        while let load = queue.next() {
            started.append(load.key)
            _ = queue.end(load)
        }
        return started
    }

    @Test func `an abandoned waiting load frees no slot, and a running one frees its slot at its end`() throws {
        var queue = queue()
        for (caller, key) in ["a", "b", "c"].enumerated() {
            queue.add(key, caller: UInt64(caller))
        }
        let next = queue.next()
        let first = try #require(next)
        #expect(first.key == "a" && queue.next() == nil)
        if let load = queue.leave("b", caller: 1) { queue.abandon(load) }
        #expect(queue.next() == nil && queue.queuedCount == 1)
        #expect(queue.leave("a", caller: 7) == nil)
        #expect(queue.leave("a", caller: 0) == first)
        queue.abandon(first)
        // Another load of the same URL waits, and does not end with the first one.
        queue.add("a", caller: 3)
        #expect(queue.next() == nil && queue.activeCount == 1)
        #expect(queue.end(first) == [])
        #expect(queue.next()?.key == "c" && queue.queuedCount == 1)
    }

    @Test(arguments: [(ThumbnailLoader.Order.fifo, ["a", "b", "c"]), (.lifo, ["c", "b", "a"])])
    func `waiting loads start in order`(order: ThumbnailLoader.Order, expected: [String]) {
        var queue = queue(order)
        for key in ["a", "b", "c", "a"] { queue.add(key) }
        #expect(drain(&queue) == expected)
    }

    @Test(arguments: [
        (ThumbnailLoader.Order.fifo, ["second", "high", "first", "third", "low"]),
        (.lifo, ["high", "second", "third", "first", "low"]),
    ])
    func `a load has the highest priority of its callers, and equal ones start in order`(
        order: ThumbnailLoader.Order, expected: [String]
    ) {
        var queue = queue(order)
        for (key, priority) in [
            ("low", ThumbnailLoader.Priority.low), ("first", .normal), ("second", .low), ("third", .normal),
            ("high", .low),
        ] {
            queue.add(key, priority: priority)
        }
        #expect(queue.join("second", caller: 1, priority: .high) == nil)
        queue.setPriority(.high, of: "high", caller: 0)
        #expect(drain(&queue) == expected)
    }

    @Test func `loads of low priority leave slots for others`() throws {
        var queue = queue(limit: 3, lowLimit: 1)
        for key in ["a", "b", "c"] { queue.add(key, priority: .low) }
        let next = queue.next()
        let first = try #require(next)
        #expect(queue.next() == nil && queue.activeCount == 1)
        queue.add("now")
        #expect(queue.next()?.key == "now" && queue.next() == nil)
        // A running load that gets a caller with normal priority no longer has low priority.
        queue.setPriority(.normal, of: first.key, caller: 0)
        #expect(queue.next()?.key == "b" && queue.next() == nil)
    }

    @Test func `a paused load frees its slot, and retains its callers until its next attempt`() throws {
        var queue = queue()
        for key in ["a", "b"] { queue.add(key, caller: 5) }
        let next = queue.next()
        let load = try #require(next)
        #expect(queue.pause(load) && queue.activeCount == 0)
        #expect(queue.next()?.key == "b")
        #expect(queue.join("a", caller: 6) == nil && queue.callers(of: load) == [5, 6])
        queue.enqueue(load)
        #expect(queue.queuedCount == 1)
        for caller: UInt64 in [5, 6] {
            if let load = queue.leave("a", caller: caller) { queue.abandon(load) }
        }
        #expect(!queue.pause(load) && queue.queuedCount == 0)
        queue.enqueue(load)
        #expect(queue.queuedCount == 0)
    }

    @Test(arguments: [0, -5])
    func `a queue without slots has one`(limit: Int) {
        var queue = queue(limit: limit, lowLimit: limit)
        queue.add("a", priority: .low)
        #expect(queue.next()?.key == "a")
    }

    @Test func `delays double up to the maximum, and a longer Retry-After of the service takes precedence`() {
        let policy = RetryPolicy(maximumRetries: 40, initialDelay: .seconds(1), maximumDelay: .seconds(5))
        let error = ClientError.unexpected(status: 503, mediaType: nil)
        let delays = (0..<4).map { policy.delay(after: error, failures: $0, jitter: 0) }
        #expect(delays == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
        #expect(policy.delay(after: error, failures: 39, jitter: 1) == .milliseconds(2_500))
        #expect(policy.delay(after: error, failures: 40, jitter: 0) == nil)
        #expect(policy.delay(after: .tooLarge, failures: 0, jitter: 0) == nil)
        let endless = RetryPolicy(initialDelay: .seconds(Int.max), maximumDelay: .seconds(Int.max))
        #expect(endless.delay(after: error, failures: 1, jitter: 0) == .seconds(1_000_000_000))
        #expect(RetryPolicy.none.delay(after: error, failures: 0, jitter: 0) == nil)
        let problem = Problem(
            title: "", status: 503, detail: "", code: "overloaded", parameter: nil, allowed: nil, nearest: nil,
            upstreamStatus: nil, requestID: nil)
        #expect(policy.delay(after: .problem(problem, retryAfter: .seconds(3)), failures: 0, jitter: 1) == .seconds(3))
        #expect(policy.delay(after: .problem(problem, retryAfter: .seconds(6)), failures: 0, jitter: 0) == nil)
    }
}
