import Coordination
import Telemetry
import TestSupport
import Testing

@testable import Webhooks

/// Background calls: attempts, pauses, limits and shutdown.
@Suite(.timeLimit(.minutes(1)))
struct OutgoingCallerTests {
    private let time = ManualTimekeeper()
    private let outcomes = CounterFamily()
    private let tries = Locked<[String]>([])
    private let ends = Watched<[CallOutcome]>([])

    private func caller(_ send: @escaping OutgoingCaller.Send) -> OutgoingCaller {
        OutgoingCaller(.purgeHook, outcomes: outcomes, logger: .silent, timekeeper: time) { [tries] call in
            tries.withLock { $0.append(call.url) }
            return await send(call)
        }
    }

    private func add(_ url: String, to caller: OutgoingCaller) {
        caller.add(OutgoingCall(url: url)) { [ends] outcome in ends.withLock { $0.append(outcome) } }
    }

    private func counts() -> [Int] {
        CallOutcome.allCases.map { outcomes.counter("purge_hook", $0.rawValue).value }
    }

    private func ended(_ count: Int) async -> [CallOutcome] {
        await ends.reached { $0.count == count }
        return ends.withLock { $0 }
    }

    @Test func `a call with a 2xx response is sent once`() async {
        for status in [200, 204, 299] {
            let caller = caller { _ in .status(status) }
            add("http://h/\(status)", to: caller)
        }
        #expect(await ended(3) == [.sent, .sent, .sent])
        #expect(tries.withLock { $0.count } == 3 && counts() == [3, 0, 0])
    }

    @Test(arguments: [CallReply.status(500), .status(404), .status(302), .none("nobody")])
    func `a failing call is tried three times, with growing pauses`(reply: CallReply) async {
        let caller = caller { _ in reply }
        add("http://h/", to: caller)
        await time.nextWaking(at: .seconds(1))
        #expect(tries.withLock { $0.count } == 1)
        time.advance(by: .seconds(1))
        await time.nextWaking(at: .seconds(6))
        #expect(tries.withLock { $0.count } == 2)
        time.advance(by: .seconds(5))
        #expect(await ended(1) == [.failed])
        #expect(tries.withLock { $0.count } == 3 && counts() == [0, 1, 0])
    }

    @Test func `the second attempt counts, and a forbidden call is not retried`() async {
        let replies = Locked<[CallReply]>([.status(503), .status(200)])
        let trying = caller { _ in replies.withLock { $0.removeFirst() } }
        add("http://h/", to: trying)
        await time.nextWaking(at: .seconds(1))
        time.advance(by: .seconds(1))
        #expect(await ended(1) == [.sent])
        add("http://h/", to: caller { _ in .rejected("allowedNetworks") })
        #expect(await ended(2) == [.sent, .failed])
        #expect(tries.withLock { $0.count } == 3 && counts() == [1, 1, 0])
    }

    @Test func `a limited number of calls run or wait, and the others are dropped and counted`() async {
        let gate = Gate()
        let caller = caller { _ in
            await gate.pass()
            return .status(200)
        }
        let maximum = CallQueue<Int>.maximumActive
        for number in 0..<maximum { add("http://h/\(number)", to: caller) }
        await gate.arrivals(maximum)
        for number in 0..<CallQueue<Int>.maximumWaiting + 2 { add("http://h/more/\(number)", to: caller) }
        #expect(caller.waitingCount == CallQueue<Int>.maximumWaiting)
        #expect(ends.withLock { $0 } == [.dropped, .dropped] && counts() == [0, 0, 2])
        #expect(gate.arrivedCount == maximum)
        gate.open()
        let all = CallQueue<Int>.maximumWaiting + maximum
        #expect(await ended(all + 2).count { $0 == .sent } == all)
        #expect(caller.waitingCount == 0)
    }

    @Test func `the bytes of queued calls are limited, too`() {
        var queue = CallQueue<Int>()
        let half = CallQueue<Int>.maximumBytes / 2
        #expect(queue.add(1, bytes: half) == .started && queue.add(2, bytes: half) == .started)
        #expect(queue.add(3, bytes: 1) == .dropped)
        #expect(queue.next() == 1)
        #expect(queue.add(3, bytes: half) == .started && queue.add(4, bytes: 1) == .dropped)
    }

    @Test func `the shutdown waits for calls in progress, for a time, and drops the rest`() async {
        let gate = Gate()
        let caller = caller { call in
            await gate.pass()
            return .status(200)
        }
        add("http://h/", to: caller)
        await gate.arrivals(1)
        let stop = Task.immediate { await caller.shutDown(timeLimit: .seconds(2)) }
        await time.sleepers(1)
        add("http://h/late", to: caller)
        #expect(ends.withLock { $0 } == [.dropped])
        gate.open()
        await stop.value
        #expect(await ended(2) == [.dropped, .sent])

        let never = self.caller { _ in .status(500) }
        add("http://h/", to: never)
        await time.nextWaking(at: .seconds(1))
        let cut = Task.immediate { await never.shutDown(timeLimit: .milliseconds(500)) }
        await time.nextWaking(at: .milliseconds(500))
        time.advance(by: .milliseconds(500))
        await cut.value
        #expect(await ended(3).last == .dropped)
        #expect(counts() == [1, 0, 2])
    }
}
