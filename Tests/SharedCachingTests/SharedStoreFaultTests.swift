import Coordination
import Memory
import TestSupport
import Testing

@testable import SharedCaching

/// A server that is slow, full, unreachable, or returns wrong data.
@Suite(.timeLimit(.minutes(2)))
struct SharedStoreFaultTests {
    private let server: FakeRedis

    init() throws { server = try FakeRedis() }

    @Test func `a service starts without its server, and uses it once available`() async throws {
        server.stop()
        let one = try StoreFixture(server)
        #expect(await one.look().result == nil)
        await one.log.reached { $0 == ["shared cache unreachable"] }
        try server.restart()
        try await one.state()
        try await one.write(under: try await one.begin())
        #expect(await one.text() == "value")
    }

    @Test(arguments: [FakeRedis.Fault.lying, .mixing])
    func `a value that differs from the written one is rejected`(fault: FakeRedis.Fault) async throws {
        let one = try StoreFixture(server)
        try await one.state()
        let generations = try await one.begin()
        try await one.write(under: generations)
        #expect(
            one.store.store(.test("other"), for: SharedKey(of: [5]), of: [.test], under: [generations], seconds: 60))
        try #require(await eventually { one.store.statistics.values.bytes == 0 })
        server.fail(fault)
        let lookUp = await one.look()
        #expect(lookUp.value == nil && lookUp.result == .rejected)
        #expect(one.store.statistics.requests[.rejected] == 1)
        server.fail(nil)
        #expect(await one.text() == "value")
    }

    @Test func `a silent server delays a request once, and three requests in total`() async throws {
        let one = try StoreFixture(server) { $0.store.timeout = .milliseconds(50) }
        try await one.state()
        let gate = ThreadGate()
        server.fail(.held(gate))
        let allowance = WaitBudget()
        #expect(await one.look(allowance).result == .timeout)
        #expect(await one.look(allowance).result == nil, "the request has no time left")
        #expect(await one.look().result == .timeout)
        #expect(await one.look().result == .timeout)
        #expect(one.store.statistics.state == "suspended")
        #expect(await one.look().result == nil)
        #expect(one.store.statistics.requests == [.timeout: 3])
        server.fail(nil)
        gate.open()
        // A busy machine may exceed the limit again.
        #expect(await eventually { await one.look().result == .miss })
    }

    @Test func `a caller that leaves does not wait`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        let gate = ThreadGate()
        server.fail(.held(gate))
        let reading = Task.immediate { await one.look() }
        reading.cancel()
        #expect(await reading.value.result == nil)
        gate.open()
    }

    @Test func `a full server fails writes, but no reads`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        let generations = try await one.begin()
        try await one.write(under: generations)
        server.fail(.full)
        one.store.countDropIfFull()
        #expect(one.store.statistics.values.dropped == 0)
        #expect(one.store.store(.test("new"), for: .test, of: [.test], under: [generations], seconds: 60))
        #expect(await eventually { one.store.statistics.values.dropped == 1 })
        // Work that began since then has no generations.
        one.store.countDropIfFull()
        #expect(one.store.statistics.values.dropped == 2)
        #expect(one.store.statistics.values.bytes == 0 && one.store.isUp && one.store.statistics.state == "full")
        await one.log.reached { $0.last == "shared cache full; read-only" }
        #expect(await one.text() == "value")
    }

    @Test func `a purge reaches others while the server is full, and its log later`() async throws {
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        try await one.state()
        try await other.state()
        // Before the instances subscribe, they receive purges only from the log.
        await server.commands("SUBSCRIBE", 2)
        server.fail(.full)
        #expect(await one.store.purge(.test, name: "a") == .pending)
        await other.heard(1)
        server.fail(nil)
        let later = try StoreFixture(server)
        await later.heard(1)
        #expect(later.heardPurges == ["a"])
    }

    @Test func `writes wait in a bounded queue, and are dropped beyond it`() async throws {
        let one = try StoreFixture(server) { $0.store.maximumQueueBytes = 1_000 }
        try await one.state()
        let generations = try await one.begin()
        let gate = ThreadGate()
        server.fail(.held(gate))
        var written = 0
        for _ in 0..<20
        where one.store.store(.test("value"), for: .test, of: [.test], under: [generations], seconds: 60) {
            written += 1
        }
        #expect((1..<20).contains(written) && one.store.statistics.values.bytes <= 1_000)
        #expect(one.store.statistics.values.dropped == 20 - written)
        server.fail(nil)
        gate.open()
        #expect(await eventually { one.store.statistics.values.bytes == 0 })
    }

    @Test func `a missed purge is read from the log`() async throws {
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        try await one.state()
        try await other.state()
        #expect(await one.store.purge(.test, name: "first") == .done)
        await other.heard(1)
        server.cut()
        #expect(await one.store.purge(.test, name: "second") != .rejected)
        await other.heard(2)
        #expect(other.heardPurges == ["first", "second"])
    }

    @Test func `a purge during an outage of the server is delivered afterward, before values are read`() async throws {
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        try await one.state()
        try await other.state()
        try await one.write(under: try await one.begin())
        server.stop()
        try await one.state(.down)
        #expect(await one.store.purge(.test, name: "a") == .pending)
        try server.restart(isEmpty: false)
        try await one.state()
        #expect(await one.text() == nil)
        await other.heard(1)
    }

    @Test func `a lost log is rewritten by the instances that remember it`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        #expect(await one.store.purge(.test, name: "a") == .done)
        server.stop()
        try await one.state(.down)
        try server.restart()
        try await one.state()
        // Like an instance that was disconnected during the purge.
        let other = try StoreFixture(server)
        await other.heard(1)
        #expect(other.heardPurges == ["a"])
    }

    @Test func `an instance that misses more purges than the log holds detects the gap`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        for start in stride(from: 0, to: PurgeMemory.capacity, by: 128) {
            await withTaskGroup { group in
                for number in start..<start + 128 {
                    group.addTask { _ = await one.store.purge(.test, name: "\(number)") }
                }
            }
        }
        #expect(one.gaps.count == 0)
        let other = try StoreFixture(server)
        await other.heard(PurgeMemory.capacity)
        await other.gaps.reached(1)
        // Purges that the instance knows by now are not a gap.
        server.cut()
        #expect(await one.store.purge(.test, name: "next") != .rejected)
        await other.heard(PurgeMemory.capacity + 1)
        #expect(other.gaps.count == 1 && one.gaps.count == 0)
    }

    @Test func `a process continues at its predecessor's position in the log, and detects if it is gone`()
        async throws
    {
        let one = try StoreFixture(server)
        try await one.state()
        #expect(await one.store.purge(.test, name: "first") == .done)
        let earlier = try StoreFixture(server)
        await earlier.heard(1)
        try #require(await eventually { earlier.position == Array(server.lastEntry.utf8) })
        let position = earlier.position
        await earlier.store.shutDown(timeLimit: .queueTimeout)
        #expect(await one.store.purge(.test, name: "second") == .done)
        let later = try StoreFixture(server, position: position)
        await later.heard(1)
        #expect(later.heardPurges == ["second"] && later.gaps.count == 0)
        server.stop()
        try await one.state(.down)
        try server.restart()
        let last = try StoreFixture(server, position: position)
        await last.gaps.reached(1)
    }

    @Test func `a restarted server brings back nothing begun earlier`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        let before = try await one.begin()
        server.stop()
        try await one.state(.down)
        try server.restart()
        try await one.state()
        try await one.write(under: before)
        #expect(await one.text() == nil)
    }

    @Test func `waiting purges are limited, and the next one is rejected`() async throws {
        server.stop()
        let one = try StoreFixture(server)
        for number in 0..<PendingRemovals.capacity {
            guard await one.store.purge(.test, name: "\(number)") == .pending else {
                Issue.record("purge \(number) was refused")
                return
            }
        }
        #expect(await one.store.purge(.test, name: "one too many") == .rejected)
    }

    @Test func `an endless line costs no request more than its limit`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        try await one.write(under: try await one.begin())
        server.fail(.endless)
        let begun = SystemTimekeeper().now
        let lookUp = await one.look()
        // The connection is closed after one read, long before the line is as long as a value.
        #expect(lookUp.result == .error && SystemTimekeeper().now - begun < .seconds(2))
        server.fail(nil)
        #expect(await eventually { await one.text() == "value" })
    }

    @Test func `a server with invalid responses is not contacted`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        server.fail(.babbling)
        _ = await one.look()
        try await one.state(.down)
        server.fail(nil)
        try await one.state()
    }

    @Test func `the password is sent, and a wrong one is reported`() async throws {
        let guarded = try FakeRedis(password: "secret")
        let right = try StoreFixture(guarded) { $0.credentials.password = "secret" }
        try await right.state()
        for password in ["wrong", nil] {
            let wrong = try StoreFixture(guarded) { $0.credentials.password = password }
            await wrong.log.reached { $0.contains("shared cache rejected the connection") }
            #expect(!wrong.store.isUp)
        }
        #expect(!"\(SharedCacheCredentials())".contains("secret"))
    }

    @Test(arguments: [true, false]) func `an unconfirmed purge is retried once at the end, and reported if it fails`(
        isBack: Bool
    ) async throws {
        let other = try StoreFixture(server)
        // The server is not tried again before the end of the test.
        let one = try StoreFixture(server) { $0.store.interval = .seconds(3_600) }
        try await one.state()
        try await other.state()
        server.stop()
        try await one.state(.down)
        #expect(await one.store.purge(.test, name: "a") == .pending)
        if isBack { try server.restart(isEmpty: false) }
        await one.store.shutDown(timeLimit: .queueTimeout)
        #expect(one.log.messages.contains("purges lost: not confirmed by the shared cache") != isBack)
        if isBack { await other.heard(1) }
    }

    @Test func `a stopped store answers all callers`() async throws {
        let one = try StoreFixture(server)
        try await one.state()
        let gate = ThreadGate()
        server.fail(.held(gate))
        // The read is queued when this returns.
        let reading = Task.immediate { await one.look() }
        await one.store.shutDown(timeLimit: .queueTimeout)
        #expect(await reading.value.result == .error)
        #expect(await one.store.purge(.test, name: "a") == .rejected)
        gate.open()
    }
}
