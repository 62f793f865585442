import Coordination
import TestSupport
import Testing

@testable import Downloading

/// Temporary keys are requested once, renewed before they expire, and never used after that.
@Suite(.timeLimit(.minutes(1)))
struct OriginKeysTests {
    /// Issues numbered temporary keys, or fails.
    private final class Lender: Sendable {
        struct State {
            var life = 3_600
            var count = 0
            var failure: KeyFailure?
            var gate: ThreadGate?
        }

        let state = Locked(State())
        let test = EventCounter()

        func request(_ source: KeySource, _ now: Int) throws(KeyFailure) -> OriginCredentials.AccessKey {
            test.increment()
            state.withLock { $0.gate }?.pass()
            let (failure, number, life) = state.withLock { state in
                if state.failure == nil { state.count += 1 }
                return (state.failure, state.count, state.life)
            }
            if let failure { throw failure }
            return .init(id: "K\(number)", secret: Secret("s"), sessionToken: Secret("t"), expiresAt: now + life)
        }
    }

    private let lender = Lender()
    private let time = ManualTimekeeper()
    private let keys: OriginKeys
    private let origins: [String: Origin]

    init() throws {
        let origins = try ["a", "b", "plain", "own"].map { name in
            var origin = Origin(name: name, location: .web(base: try SourceURL(parsing: "http://h/\(name)")))
            switch name {
            case "plain": break
            case "own":
                origin.credentials = .signature(.fixed(.init(id: "OWN", secret: Secret("s"))), region: "eu")
            default: origin.credentials = .signature(.instance(service: "http://m"), region: "eu")
            }
            return origin
        }
        self.origins = Dictionary(uniqueKeysWithValues: origins.map { ($0.name, $0) })
        keys = OriginKeys(timekeeper: time) { [lender] source, now throws(KeyFailure) in
            try lender.request(source, now)
        }
    }

    private func key(_ name: String = "a") async throws -> String? { try await keys.key(for: origins[name])?.id }

    @Test func `only origins with lent keys request them, and one source is contacted once for all its origins`()
        async throws
    {
        #expect(try await key("plain") == nil)
        #expect(try await keys.key(for: nil) == nil)
        #expect(try await key("own") == "OWN")
        #expect(lender.test.count == 0)
        #expect(try await key("a") == "K1")
        #expect(try await key("b") == "K1")
        #expect(lender.test.count == 1)
    }

    @Test func `many concurrent requests wait for one renewal`() async throws {
        let gate = ThreadGate()
        lender.state.withLock { $0.gate = gate }
        let tasks = (0..<50).map { number in Task.immediate { try await key(number.isMultiple(of: 2) ? "a" : "b") } }
        await gate.arrivals(1)
        gate.open()
        for task in tasks { #expect(try await task.value == "K1") }
        #expect(lender.test.count == 1)
    }

    @Test func `a key near its end still signs during the renewal, and no request waits`() async throws {
        #expect(try await key() == "K1")
        time.advance(by: .seconds(3_299))
        #expect(try await key() == "K1")
        #expect(lender.test.count == 1)
        time.advance(by: .seconds(1))
        let gate = ThreadGate()
        lender.state.withLock { $0.gate = gate }
        for _ in 0..<10 { #expect(try await key() == "K1") }
        await gate.arrivals(1)
        #expect(lender.test.count == 2)
        gate.open()
        #expect(await eventually { (try? await key()) == "K2" })
        #expect(lender.test.count == 2)
    }

    @Test(arguments: [2, 3, 30, 900, 43_200])
    func `a key is never used at its end or after it, for any lifetime`(life: Int) async throws {
        lender.state.withLock { $0.life = life }
        for _ in 0..<20 {
            let key = try #require(try await keys.key(for: origins["a"]))
            #expect(try #require(key.expiresAt) > time.secondsSince1970)
            time.advance(by: .seconds(max(1, life / 7)))
        }
        lender.state.withLock { $0.failure = KeyFailure(detail: "away", isPermanent: true) }
        time.advance(by: .seconds(life))
        await #expect(throws: DownloadError.unreachable("credentials: away")) { try await key() }
    }

    @Test func `a failed attempt is retried after pauses, then suspended for a time that doubles up to a minute`()
        async throws
    {
        lender.state.withLock { $0.failure = KeyFailure(detail: "away", isPermanent: false) }
        var rest = 2
        for round in 1...8 {
            let task = Task { try await key() }
            await lender.test.reached(round * 3 - 2)
            await time.sleepers(1)
            time.advance(by: .milliseconds(200))
            await lender.test.reached(round * 3 - 1)
            await time.sleepers(1)
            time.advance(by: .seconds(1))
            await #expect(throws: DownloadError.unreachable("credentials: away")) { try await task.value }
            for _ in 0..<5 { await #expect(throws: DownloadError.self) { try await key() } }
            time.advance(by: .seconds(rest) - .milliseconds(1))
            await #expect(throws: DownloadError.self) { try await key() }
            #expect(lender.test.count == round * 3)
            time.advance(by: .milliseconds(1))
            rest = min(60, rest * 2)
        }
        lender.state.withLock { $0.failure = nil }
        #expect(try await key() == "K1")
    }

    @Test func `a rejection is not retried at once`() async throws {
        lender.state.withLock { $0.failure = KeyFailure(detail: "no such role", isPermanent: true) }
        await #expect(throws: DownloadError.unreachable("credentials: no such role")) { try await key() }
        #expect(lender.test.count == 1)
    }

    @Test func `while the service fails, the current key signs until its end`() async throws {
        #expect(try await key() == "K1")
        lender.state.withLock { $0.failure = KeyFailure(detail: "away", isPermanent: true) }
        time.advance(by: .seconds(3_400))
        #expect(try await key() == "K1")
        await lender.test.reached(2)
        time.advance(by: .seconds(189))
        #expect(try await key() == "K1")
        time.advance(by: .seconds(1))
        await #expect(throws: DownloadError.self) { try await key() }
    }

    @Test func `a renewal continues after its last waiter has left`() async throws {
        let gate = ThreadGate()
        lender.state.withLock { $0.gate = gate }
        let task = Task { try await key() }
        await gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        #expect(await eventually { (try? await key()) == "K1" })
        #expect(lender.test.count == 1)
    }
}
