import Coordination
import Memory
import TestSupport
import Testing

@testable import SharedCaching

/// Writers without the key on the same server.
@Suite(.timeLimit(.minutes(2)))
struct ForeignWriterTests {
    private let server: FakeRedis

    init() throws { server = try FakeRedis() }

    /// Connected instances, by default with a key.
    private func instances(_ count: Int, key: String? = "key") async throws -> [StoreFixture] {
        let fixtures = try (0..<count).map { _ in
            try StoreFixture(server) { $0.credentials.key = key.map { Array($0.utf8) } }
        }
        for fixture in fixtures { try await fixture.state() }
        return fixtures
    }

    @Test(arguments: 0..<4)
    func `a log made unusable by others is recreated, and no purge is missed`(kind: Int) async throws {
        let fleet = try await instances(2)
        #expect(await fleet[0].store.purge(.test, name: "first") == .done)
        await fleet[1].heard(1)
        switch kind {
        case 0: server.append(Array("x".utf8), isLast: true)
        case 1: server.put("alula:1:purges", "x")
        // Too long for one reply.
        case 2: for _ in 0..<250 { server.append([UInt8](repeating: 120, count: 40_000)) }
        default: for _ in 0..<17_000 { server.append(Array("x".utf8)) }
        }
        // A string that replaces the log is removed with the log.
        #expect(await fleet[0].store.purge(.test, name: "second") != .rejected)
        await fleet[1].heard(2)
        let later = try await instances(1)[0]
        await later.heard(2)
        #expect(later.heardPurges.sorted() == ["first", "second"])
        #expect(await fleet[1].store.purge(.test, name: "third") == .done)
        await later.heard(3)
        #expect((fleet + [later]).allSatisfy { $0.gaps.count == 0 }, "caches were emptied")
        #expect(
            await eventually {
                (fleet + [later]).contains { $0.log.messages.contains("purge log unusable; starting a new one") }
            })
    }

    @Test func `an invalid generation of everything is replaced`() async throws {
        let one = try await instances(1)[0]
        server.put("alula:1:g", "x")
        try #require(await eventually { (try? await one.begin()) != nil })
        try await one.write(under: try await one.begin())
        #expect(await one.text() == "value")
    }

    @Test
    func `of a set, only sources that an instance has signed for its tag are purged, among any others`() async throws {
        let fleet = try await instances(2)
        let tag = try #require(SharedTag("mine"))
        let other = try #require(SharedTag("other"))
        let real = try #require(NamedSource(.test, name: "http://example.com/real"))
        let foreign = try #require(NamedSource(SharedSource(of: [7]), name: "http://example.com/foreign"))
        fleet[0].store.record(other, of: foreign, since: nil)
        try #require(await eventually { fleet[0].store.statistics.tags.written == 1 })
        let replayed = server.members(under: "alula:1:t:")
        server.forgetSets()
        fleet[0].store.record(tag, of: real, since: nil)
        try #require(await eventually { fleet[0].store.statistics.tags.written == 2 })
        let junk = (0..<2_000).map { Array("\($0)".utf8) + [UInt8](repeating: 48, count: 60) }
        let long = [UInt8](repeating: 50, count: 50_000)
        server.add(junk + replayed + [foreign.encoded, long], toSetsUnder: "alula:1:t:")
        let tagged = Locked<[String]>([])
        let isComplete = Locked<Bool?>(nil)
        let removal = TagRemoval(of: tag) { sources, isAll in
            tagged.withLock { $0 += sources.map(\.name) }
            isComplete.withLock { $0 = isAll }
        }
        #expect(await fleet[1].store.purge(removal) == .done)
        #expect(tagged.withLock { $0 } == [real.name] && isComplete.withLock { $0 } == true)
        await fleet[0].heard(2)
        #expect(fleet[0].heardPurges == [real.name, "#mine"])
    }

    @Test(arguments: [false, true], ["key", nil])
    func `an invalid list of sources under a tag is reported, and not retried`(
        isLong: Bool, key: String?
    ) async throws {
        let one = try await instances(1, key: key)[0]
        let tag = try #require(SharedTag("mine"))
        one.store.record(tag, of: try #require(NamedSource(.test, name: "a")), since: nil)
        try #require(await eventually { one.store.statistics.tags.written == 1 })
        if isLong {
            server.add([[UInt8](repeating: 48, count: 9 << 20)], toSetsUnder: "alula:1:t:")
        } else {
            server.coverSets(under: "alula:1:t:")
        }
        let isComplete = Locked<Bool?>(nil)
        let removal = TagRemoval(of: tag) { _, isAll in isComplete.withLock { $0 = isAll } }
        #expect(await one.store.purge(removal) == .done)
        #expect(isComplete.withLock { $0 } == false)
        try await one.state()
    }

    @Test func `endless junk is not read endlessly`() {
        var tagged = TaggedSources()
        let signer = SharedSigner(key: [1])
        let page = [[UInt8]?](repeating: nil, count: 500)
        var pages = 0
        while tagged.isComplete, pages < 1_000 {
            tagged.add(page, signedBy: signer)
            pages += 1
        }
        #expect(10..<100 ~= pages && tagged.sources.isEmpty)
    }
}
