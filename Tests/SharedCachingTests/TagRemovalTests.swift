import Coordination
import Memory
import Telemetry
import TestSupport
import Testing

@testable import SharedCaching

/// Purges of all sources that were requested with a tag.
@Suite(.timeLimit(.minutes(2)))
struct TagRemovalTests {
    private let tag: SharedTag
    private let named: NamedSource
    private let tagged = Locked<[String]>([])
    /// Whether all sources were found; nil until some were.
    private let isComplete = Watched<Bool?>(nil)

    init() throws {
        tag = try #require(SharedTag("product-7"))
        named = try #require(NamedSource(.test, name: "http://example.com/a"))
    }

    private var removal: TagRemoval {
        TagRemoval(of: tag) { [tagged, isComplete] sources, isAll in
            tagged.withLock { $0 += sources.map(\.name) }
            isComplete.withLock { $0 = isAll }
        }
    }

    private var foundNames: [String] { tagged.withLock { $0.sorted() } }

    @Test func `a purge by tag reads back as written`() throws {
        let notice = PurgeNotice(.tag(tag))
        #expect(PurgeNotice(notice.encoded()) == notice)
        #expect(PurgeNotice(notice.encoded() + Array(repeating: 65, count: 64)) == nil)
        #expect(SharedTag("") == nil && SharedTag("a\0b") == nil && SharedTag(String(repeating: "a", count: 65)) == nil)
    }

    @Test func `many sources are sent in several notices, each of them short`() throws {
        let sources = try (0..<2_000).map { number in
            try #require(NamedSource(SharedSource(of: [UInt8(number & 255), UInt8(number >> 8)]), name: "a:\(number)"))
        }
        let notices = PurgeNotice.notices(of: sources)
        #expect(20...30 ~= notices.count && notices.allSatisfy { $0.encoded().count <= 5 << 10 })
        let read = notices.compactMap { PurgeNotice($0.encoded()) }
        #expect(read == notices && read.flatMap(\.sources) == sources.map(\.source))
    }

    // MARK: On a server

    @Test func `a purge by tag removes sources of all instances and notifies the others, the tag last`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        for fixture in [one, other] { try await fixture.state() }
        try await one.write(under: try await one.begin())
        one.store.record(tag, of: named, since: nil)
        for number in 0..<4 {
            one.store.record(
                tag, of: try #require(NamedSource(SharedSource(of: [UInt8(number)]), name: "a:\(number)")), since: nil)
        }
        try #require(await eventually { one.store.statistics.values.bytes + one.store.statistics.tags.bytes == 0 })
        #expect(await other.store.purge(removal) == .done)
        #expect(foundNames == ["a:0", "a:1", "a:2", "a:3", named.name])
        #expect(await other.text() == nil)
        await one.heard(2)
        #expect(one.heardPurges == ["a:0 a:1 a:2 a:3 \(named.name)", "#product-7"] && other.heardPurges.isEmpty)
    }

    @Test func `an unknown tag is sent to other instances too`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        for fixture in [one, other] { try await fixture.state() }
        #expect(await one.store.purge(removal) == .done)
        await other.heard(1)
        #expect(other.heardPurges == ["#product-7"] && foundNames.isEmpty)
    }

    @Test func `a purge by tag waits for an unavailable server`() async throws {
        let server = try FakeRedis()
        let one = try StoreFixture(server)
        try await one.state()
        try await one.write(under: try await one.begin())
        one.store.record(tag, of: named, since: nil)
        try #require(await eventually { one.store.statistics.values.bytes + one.store.statistics.tags.bytes == 0 })
        server.stop()
        try await one.state(.down)
        #expect(await one.store.purge(removal) == .pending)
        #expect(foundNames.isEmpty)
        try server.restart(isEmpty: false)
        try await one.state()
        #expect(await eventually { foundNames == [named.name] })
        #expect(await one.text() == nil)
    }

    // MARK: In a folder or a bucket

    private func objectStore(
        _ place: ObjectsInMemory, timekeeper: any Timekeeper = SystemTimekeeper(),
        _ configure: (inout SharedStoreConfiguration) -> Void = { _ in }
    ) async throws -> SharedStore {
        var configuration = SharedStoreConfiguration()
        configuration.timeout = .queueTimeout
        configuration.interval = .milliseconds(20)
        configure(&configuration)
        let store = SharedStore(
            place, configuration: configuration, logger: Logger(level: .debug, sink: LinesSink()),
            timekeeper: timekeeper)
        try store.start()
        try #require(await eventually { store.isUp })
        return store
    }

    private func write(to store: SharedStore) async throws {
        let lookUp = await store.value(for: .test, of: [.test], allowance: WaitBudget())
        let generations = try #require(lookUp.generations?.first)
        #expect(store.store(.test("value"), for: .test, of: [.test], under: [generations], seconds: 0))
        try #require(await eventually { store.statistics.values.bytes == 0 })
    }

    private func isFound(in store: SharedStore) async -> Bool {
        await store.value(for: .test, of: [.test], allowance: WaitBudget()).value != nil
    }

    @Test func `sources recorded in a bucket by an earlier instance are removed by tag`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place)
        one.record(tag, of: named, since: nil)
        try await write(to: one)
        one.record(tag, of: named, since: nil)
        try #require(await eventually { one.statistics.values.bytes + one.statistics.tags.bytes == 0 })
        #expect(one.statistics.tags.written == 1, "a tag was written twice")
        let later = try await objectStore(place)
        let other = TagRemoval(of: try #require(SharedTag("product-8"))) { sources, isComplete in
            #expect(sources.isEmpty && isComplete)
        }
        #expect(await later.purge(other) == .done)
        #expect(await isFound(in: later))
        #expect(await later.purge(removal) == .done)
        #expect(await !isFound(in: later))
        #expect(foundNames == [named.name])
    }

    @Test func `a source whose tag is recorded during its purge is removed`() async throws {
        let place = ObjectsInMemory()
        let (one, other) = (try await objectStore(place), try await objectStore(place))
        try await write(to: one)
        #expect(await isFound(in: one))
        let gate = Gate()
        place.hold(writes: gate)
        one.record(tag, of: named, since: nil)
        // The tag's generation has been read, and the source is about to be written under it.
        await gate.arrivals(1)
        place.hold()
        #expect(await other.purge(removal) == .done)
        #expect(foundNames.isEmpty)
        #expect(await isFound(in: other))
        gate.open()
        #expect(await eventually { await !isFound(in: other) })
    }

    @Test func `a value written after a purge for a source requested before it is not found`() async throws {
        let place = ObjectsInMemory()
        let (one, other) = (try await objectStore(place), try await objectStore(place))
        let checkpoint = try #require(one.checkpoint(of: tag, for: named))
        _ = try await checkpoint.generation.value
        #expect(await other.purge(removal) == .done)
        #expect(foundNames.isEmpty)
        try await write(to: one)
        #expect(await isFound(in: other))
        one.record(tag, of: named, since: checkpoint)
        #expect(await eventually { await !isFound(in: other) })
        #expect(await other.purge(removal) == .done)
        #expect(foundNames == [named.name])
    }

    @Test func `queued tags do not block results, and are written later if there was no space`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place) { $0.maximumQueueBytes = 4_096 }
        let generations = try #require(
            await one.value(for: .test, of: [.test], allowance: WaitBudget()).generations?.first)
        let gate = Gate()
        place.hold(writes: gate)
        let count = StoreGate.maximumTagBytes / named.queuedLength + 10
        let tags = try (0..<count).map { try #require(SharedTag("tag-\($0)")) }
        for tag in tags { one.record(tag, of: named, since: nil) }
        #expect(one.statistics.tags.dropped == 10 && one.statistics.tags.bytes <= StoreGate.maximumTagBytes)
        #expect(one.store(.test("value"), for: .test, of: [.test], under: [generations], seconds: 0))
        await gate.arrivals(3)
        gate.open()
        try #require(await eventually { one.statistics.values.bytes + one.statistics.tags.bytes == 0 })
        #expect(one.statistics.values.written == 1 && one.statistics.tags.written == count - 10)
        for tag in tags { one.record(tag, of: named, since: nil) }
        try #require(await eventually { one.statistics.tags.bytes == 0 })
        #expect(one.statistics.tags.written == count, "tags were written twice")
    }

    @Test func `a source under a tag is recorded again after a day, because operators may remove old objects`()
        async throws
    {
        let time = ManualTimekeeper()
        let one = try await objectStore(ObjectsInMemory(), timekeeper: time)
        var counts: [Int] = []
        for seconds in [0, 86_399, 1] {
            time.advance(by: .seconds(seconds))
            one.record(tag, of: named, since: nil)
            try #require(await eventually { one.statistics.tags.bytes == 0 })
            counts.append(one.statistics.tags.written)
        }
        #expect(counts == [1, 1, 2])
    }

    // MARK: Too many

    /// More sources than one removal may have, measured by the lengths of their names.
    private func manySources() throws -> [NamedSource] {
        let end = String(repeating: "u", count: 4_000)
        return try (0..<2_700).map { number in
            try #require(
                NamedSource(
                    SharedSource(of: [UInt8(number & 255), UInt8(number >> 8)]), name: "http://h/\(number)" + end))
        }
    }

    @Test func `of a tag with too many sources on a server, some are removed and the others stay`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        for fixture in [one, other] { try await fixture.state() }
        try await one.write(under: try await one.begin())
        for source in try manySources() {
            one.store.record(tag, of: source, since: nil)
            try #require(await eventually { one.store.statistics.tags.bytes < 1 << 20 })
        }
        try #require(await eventually { one.store.statistics.tags.bytes == 0 })
        #expect(await other.store.purge(removal) != .rejected)
        await isComplete.reached { $0 == false }
        #expect(2_000..<2_700 ~= foundNames.count)
        // A lookup may time out while the names of the removal are read.
        #expect(await eventually { await other.text() != nil }, "everything was removed")
        await one.heard(foundNames.count + 1)
        #expect(one.gaps.count == 0)
    }

    @Test func `of a tag with too many sources in a bucket, some are removed and the others stay`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place)
        try await write(to: one)
        for source in try manySources() {
            place.objects[ObjectNames.member(source.source, of: tag)] = source.encoded
        }
        #expect(await one.purge(removal) == .done)
        await isComplete.reached { $0 == false }
        #expect(2_000..<2_700 ~= foundNames.count)
        #expect(await isFound(in: one), "everything was removed")
    }

    @Test func `in a bucket, foreign objects under a tag are not sources, and do not delay the purge`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place) { $0.key = Array("key".utf8) }
        one.record(tag, of: named, since: nil)
        try await write(to: one)
        try #require(await eventually { one.statistics.values.bytes + one.statistics.tags.bytes == 0 })
        let foreign = try #require(NamedSource(SharedSource(of: [7]), name: "http://example.com/foreign"))
        let long = try #require(NamedSource(SharedSource(of: [8]), name: "http://example.com/long"))
        place.objects[ObjectNames.member(foreign.source, of: tag)] = foreign.encoded
        place.objects[ObjectNames.member(long.source, of: tag)] = [UInt8](repeating: 48, count: 10_000)
        #expect(await one.purge(removal) == .done)
        #expect(foundNames == [named.name] && isComplete.withLock { $0 } == false)
        #expect(await !isFound(in: one))
    }

    @Test func `an unconfirmed removal is retried once at the end`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place) { $0.interval = .seconds(3_600) }
        let other = try await objectStore(place)
        try await write(to: one)
        let gate = Gate()
        place.hold(writes: gate)
        place.fail(writes: true)
        one.forget([.test])
        await gate.arrivals(1)
        gate.open()
        // The next attempt is in an hour.
        await gate.arrivals(2)
        place.fail()
        await one.shutDown(timeLimit: .queueTimeout)
        #expect(await !isFound(in: other))
    }

    @Test func `the shutdown waits for a removal in progress`() async throws {
        let place = ObjectsInMemory()
        let clock = ManualTimekeeper()
        let one = try await objectStore(place, timekeeper: clock)
        let other = try await objectStore(place)
        try await write(to: one)
        let gate = Gate()
        place.hold(writes: gate)
        one.forget([.test])
        await gate.arrivals(1)
        await clock.noSleepers()
        let end = Task { await one.shutDown(timeLimit: .seconds(1)) }
        // The shutdown waits.
        await clock.sleepers(1)
        gate.open()
        await end.value
        #expect(await !isFound(in: other))
    }

    @Test func `a store that cannot list its objects keeps them, and reports it`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place)
        try await write(to: one)
        place.fail(listings: true)
        #expect(await one.purge(removal) == .done)
        await isComplete.reached { $0 == false }
        #expect(await isFound(in: one) && foundNames.isEmpty)
    }
}
