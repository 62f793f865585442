import Coordination
import TestSupport
import Testing

@testable import Telemetry

@Suite(.timeLimit(.minutes(1)))
struct OTLPSenderTests {
    private let time = ManualTimekeeper()

    /// A collector with scripted replies; the last one repeats.
    private final class Script: Sendable {
        private let replies: Locked<[OTLPSender.Reply]>
        let limits = Locked<[Duration]>([])

        init(_ replies: [OTLPSender.Reply]) { self.replies = Locked(replies) }

        func next(_ limit: Duration) -> OTLPSender.Reply {
            limits.withLock { $0.append(limit) }
            return replies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }

        var count: Int { limits.withLock { $0.count } }
    }

    private func sender(_ script: Script) -> OTLPSender {
        OTLPSender(timekeeper: time, jitter: { 1 }) { _, limit in script.next(limit) }
    }

    @Test(arguments: [200, 202])
    func `an accepted document is sent once`(status: Int) async {
        let script = Script([.status(status)])
        #expect(await sender(script).send([]))
        #expect(script.limits.withLock { $0 } == [.seconds(3)])
    }

    @Test(arguments: [301, 400, 401, 404, 413, 500, 501, 505])
    func `a rejected document is not sent again`(status: Int) async {
        let script = Script([.status(status, retryAfter: .seconds(1))])
        #expect(await !sender(script).send([]))
        #expect(script.count == 1)
    }

    @Test(arguments: [.status(429), .status(502), .status(503), .status(504), .none] as [OTLPSender.Reply])
    func `a temporarily rejected document is sent three times, with growing pauses`(reply: OTLPSender.Reply) async {
        let script = Script([reply])
        let task = Task { [sender = sender(script)] in await sender.send([]) }
        await time.nextWaking(at: .seconds(2))
        time.advance(by: .seconds(2))
        await time.nextWaking(at: .seconds(6))
        time.advance(by: .seconds(4))
        #expect(await !task.value)
        #expect(script.count == OTLPSender.attempts)
    }

    @Test(arguments: [(7, 7), (100_000, 300)])
    func `a collector's requested pause is honored, up to a bound`(asked: Int, given: Int) async {
        let script = Script([.status(503, retryAfter: .seconds(asked)), .status(200)])
        let task = Task { [sender = sender(script)] in await sender.send([]) }
        await time.nextWaking(at: .seconds(given))
        time.advance(by: .seconds(given))
        #expect(await task.value)
    }

    @Test func `a pause ends with its task, and nothing is sent after it`() async {
        let script = Script([.none])
        let task = Task { [sender = sender(script)] in await sender.send([]) }
        await time.sleepers(1)
        task.cancel()
        #expect(await !task.value)
        #expect(script.count == 1)
    }

    @Test func `work runs in each interval, and once more at the end within a limit`() async {
        let script = Script([.status(200)])
        let sender = sender(script)
        let task = Task { await sender.run(every: .seconds(60)) { _ = await sender.send([], until: $0) } }
        for round in 1...2 {
            await time.nextWaking(at: .seconds(60 * round))
            time.advance(by: .seconds(60))
        }
        await time.nextWaking(at: .seconds(180))
        task.cancel()
        await task.value
        #expect(script.limits.withLock { $0 } == [.seconds(3), .seconds(3), OTLPSender.shutdownTimeLimit])
    }

    @Test func `nothing is sent after the end`() async {
        let script = Script([.status(200)])
        #expect(await !sender(script).send([], until: .zero))
        #expect(script.count == 0)
    }
}
