import Coordination
import Memory
import TestSupport
import Testing

@testable import SharedCaching

/// Values that other instances wrote, before and after removals.
@Suite(.timeLimit(.minutes(2)))
struct SharedStoreTests {
    private let server: FakeRedis

    init() throws { server = try FakeRedis() }

    /// Two connected instances.
    private func pair() async throws -> (StoreFixture, StoreFixture) {
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        try await one.state()
        try await other.state()
        return (one, other)
    }

    @Test func `with a key, unsigned writes are neither read nor obeyed`() async throws {
        let signed: (inout SharedCacheConfiguration) -> Void = { $0.credentials.key = [1, 2, 3] }
        let (one, other) = (try StoreFixture(server, signed), try StoreFixture(server, signed))
        let stranger = try StoreFixture(server)
        for fixture in [one, other, stranger] { try await fixture.state() }
        let generations = try await one.begin()
        try await one.write("ours", under: generations)
        #expect(await other.text() == "ours")
        #expect(await stranger.look().result == .rejected)
        try await stranger.write("forged", under: generations)
        #expect(await stranger.text() == "forged")
        #expect(await one.look().result == .rejected)
        #expect(await stranger.store.purge(.test, name: "forged") == .done)
        #expect(await one.store.purge(.test, name: "ours") == .done)
        await other.heard(1)
        #expect(other.heardPurges == ["ours"] && one.heardPurges.isEmpty)
        #expect(other.gaps.count == 0)
    }

    @Test func `a value from one instance is found by another`() async throws {
        let (one, other) = try await pair()
        #expect(await other.text() == nil)
        try await one.write(under: try await one.begin())
        #expect(await other.text() == "value")
        let lookUp = await other.look()
        #expect(lookUp.value?.head == [1, 2, 3] && lookUp.result == .hit && lookUp.generations?.count == 1)
        #expect(other.store.statistics.requests == [.hit: 2, .miss: 1])
    }

    @Test func `no key reveals its meaning`() async throws {
        let (one, _) = try await pair()
        try await one.write(under: try await one.begin())
        #expect(server.keys.count == 3 && server.keys.allSatisfy { $0.hasPrefix("alula:1:") })
        #expect(!server.keys.contains { $0.contains("example") })
    }

    @Test func `a value carries its lifetime, a week at most`() async throws {
        let (one, _) = try await pair()
        let generations = try await one.begin()
        for (seconds, written) in [(60, "60"), (604_801, "604800")] {
            #expect(one.store.store(.test("x"), for: .test, of: [.test], under: [generations], seconds: seconds))
            try #require(await eventually { one.store.statistics.values.bytes == 0 })
            let command = try #require(server.commands.last { $0[0] == "SET" && $0[1].hasPrefix("alula:1:v:") })
            #expect(command.suffix(2) == ["EX", written])
        }
        #expect(!one.store.store(.test("x"), for: .test, of: [.test], under: [generations], seconds: 0))
    }

    @Test(arguments: [(15, "120"), (90, "180"), (1 << 40, "691200")])
    func `a generation without values expires soon after a request`(timeout: Int, written: String) async throws {
        let one = try StoreFixture(server) { $0.requestTimeout = .seconds(timeout) }
        try await one.state()
        _ = try await one.begin()
        let command = try #require(server.commands.last { $0[0] == "SET" && $0.contains("NX") })
        #expect(command.suffix(2) == ["EX", written])
    }

    @Test(arguments: [false, true])
    func `a write that began before a removal is never found after it`(isWhole: Bool) async throws {
        let (one, other) = try await pair()
        let before = try await one.begin()
        try await one.write("early", under: before)
        if isWhole {
            #expect(await other.store.purgeEverything() == .done)
        } else {
            #expect(await other.store.purge(.test, name: "a") == .done)
        }
        #expect(await one.text() == nil)
        try await one.write("late", under: before)
        #expect(await one.text() == nil)
        #expect(await other.text() == nil)
        let after = try await one.begin()
        #expect(after.source != before.source || after.everything != before.everything)
        try await one.write("new", under: after)
        #expect(await other.text() == "new")
    }

    @Test func `a value of two sources is removed with either of them`() async throws {
        let (one, other) = try await pair()
        let mark = SharedSource(of: [1])
        for removed in [SharedSource.test, mark] {
            let tagged = await one.store.value(
                for: .test, of: [.test, mark], createsGenerations: true, allowance: WaitBudget())
            let generations = try #require(tagged.generations)
            #expect(one.store.store(.test("both"), for: .test, of: [.test, mark], under: generations, seconds: 60))
            try #require(await eventually { one.store.statistics.values.bytes == 0 })
            let there = await other.store.value(for: .test, of: [.test, mark], allowance: WaitBudget())
            #expect(there.result == .hit)
            #expect(await other.store.purge(removed, name: "either") == .done)
            let gone = await one.store.value(for: .test, of: [.test, mark], allowance: WaitBudget())
            #expect(gone.value == nil && gone.result == .miss)
        }
    }

    @Test func `a forgotten value is not found, and no instance is notified`() async throws {
        let (one, other) = try await pair()
        try await one.write(under: try await one.begin())
        other.store.forget(.test)
        try #require(await eventually { await one.text() == nil })
        #expect(one.heardPurges == [])
    }

    @Test func `a purge reaches each other instance, once`() async throws {
        let (one, other) = try await pair()
        #expect(await one.store.purge(.test, name: "https://example.com/a") == .done)
        await other.heard(1)
        #expect(await one.store.purge(.test, name: "photos:b") == .done)
        await other.heard(2)
        #expect(other.heardPurges == ["https://example.com/a", "photos:b"])
        #expect(one.heardPurges == [])
    }

    @Test func `removing everything leaves keys of others`() async throws {
        let (one, other) = try await pair()
        server.put("foreign", "1")
        try await one.write(under: try await one.begin())
        #expect(await one.store.purgeEverything() == .done)
        await other.heard(1)
        #expect(other.heardPurges == ["*"] && one.heardPurges.isEmpty)
        await server.keys("alula:1:v:", 0)
        #expect(server.keys.contains("foreign"))
    }

    @Test func `a read-only instance finds values of others, and its purges count`() async throws {
        let (one, _) = try await pair()
        let reader = try StoreFixture(server) { $0.store.isReadOnly = true }
        try await reader.state()
        try await one.write(under: try await one.begin())
        let before = server.keys
        #expect(await reader.text() == "value")
        let unknown = await reader.store.value(
            for: SharedKey(of: [9]), of: [SharedSource(of: [9])], createsGenerations: true, allowance: WaitBudget())
        #expect(unknown.generations == nil && unknown.result == .miss)
        let generations = try await one.begin()
        #expect(!reader.store.store(.test("x"), for: .test, of: [.test], under: [generations], seconds: 60))
        #expect(server.keys == before)
        #expect(await reader.store.purge(.test, name: "a") == .done)
        await one.heard(1)
        #expect(await one.text() == nil)
    }

    @Test func `an oversized value is not written`() async throws {
        let one = try StoreFixture(server) { $0.store.maximumValueBytes = 500 }
        try await one.state()
        let generations = try await one.begin()
        let large = CacheValue(head: [], body: SharedBytes([UInt8](repeating: 1, count: 400)))
        #expect(!one.store.store(large, for: .test, of: [.test], under: [generations], seconds: 60))
        #expect(one.store.store(.test("small"), for: .test, of: [.test], under: [generations], seconds: 60))
    }
}
