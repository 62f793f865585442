import Coordination
import Memory
import Telemetry
import TestSupport
import Testing

@testable import SharedCaching

/// Purges of all sources that were asked for under a tag.
@Suite(.timeLimit(.minutes(2)))
struct TagRemovalTests {
    private let tag: SharedTag
    private let named: NamedSource
    private let found = Locked<[String]>([])

    init() throws {
        tag = try #require(SharedTag("product-7"))
        named = try #require(NamedSource(.test, name: "http://example.com/a"))
    }

    private var removal: TagRemoval {
        TagRemoval(of: tag) { [found] sources in found.withLock { $0 += sources.map(\.name) } }
    }

    private var foundNames: [String] { found.withLock { $0.sorted() } }

    @Test func `a purge by tag is read as it was written`() throws {
        let notice = PurgeNotice(.tag(tag))
        #expect(PurgeNotice(notice.written()) == notice)
        #expect(PurgeNotice(notice.written() + Array(repeating: 65, count: 64)) == nil)
        #expect(SharedTag("") == nil && SharedTag("a\0b") == nil && SharedTag(String(repeating: "a", count: 65)) == nil)
    }

    @Test func `many sources are told of in several notices, each of them short`() throws {
        let sources = try (0..<2_000).map { number in
            try #require(NamedSource(SharedSource(of: [UInt8(number & 255), UInt8(number >> 8)]), name: "a:\(number)"))
        }
        let notices = PurgeNotice.notices(of: sources)
        #expect(20...30 ~= notices.count && notices.allSatisfy { $0.written().count <= 5 << 10 })
        let read = notices.compactMap { PurgeNotice($0.written()) }
        #expect(read == notices && read.flatMap(\.sources) == sources.map(\.source))
    }

    // MARK: On a server

    @Test func `a purge by tag removes what any instance has noted, and tells all others, the tag last`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        for fixture in [one, other] { try await fixture.state() }
        try await one.write(under: try await one.begin())
        one.store.note(tag, of: named)
        for number in 0..<4 {
            one.store.note(tag, of: try #require(NamedSource(SharedSource(of: [UInt8(number)]), name: "a:\(number)")))
        }
        try #require(await eventually { one.store.statistics.queueBytes == 0 })
        #expect(await other.store.purge(removal))
        #expect(foundNames == ["a:0", "a:1", "a:2", "a:3", named.name])
        #expect(await other.text() == nil)
        await one.heard(2)
        #expect(one.heardPurges == ["a:0 a:1 a:2 a:3 \(named.name)", "#product-7"] && other.heardPurges.isEmpty)
    }

    @Test func `a tag that the server does not know is told all the same`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try StoreFixture(server), try StoreFixture(server))
        for fixture in [one, other] { try await fixture.state() }
        #expect(await one.store.purge(removal))
        await other.heard(1)
        #expect(other.heardPurges == ["#product-7"] && foundNames.isEmpty)
    }

    @Test func `a purge by tag waits for a server that is away`() async throws {
        let server = try FakeRedis()
        let one = try StoreFixture(server)
        try await one.state()
        try await one.write(under: try await one.begin())
        one.store.note(tag, of: named)
        try #require(await eventually { one.store.statistics.queueBytes == 0 })
        server.stop()
        try await one.state(.down)
        #expect(await one.store.purge(removal))
        #expect(foundNames.isEmpty)
        try server.restart(isEmpty: false)
        try await one.state()
        #expect(await eventually { foundNames == [named.name] })
        #expect(await one.text() == nil)
    }

    // MARK: In a folder or a bucket

    private func objectStore(
        _ place: ObjectsInMemory, _ configure: (inout ObjectStoreConfiguration) -> Void = { _ in }
    ) async throws -> ObjectStore {
        var configuration = ObjectStoreConfiguration()
        configuration.timeout = .patience
        configuration.interval = .milliseconds(20)
        configure(&configuration)
        let store = ObjectStore(
            place, configuration, logger: Logger(level: .debug, sink: LinesSink()), timekeeper: SystemTimekeeper())
        store.start()
        try #require(await eventually { store.isUp })
        return store
    }

    private func write(to store: ObjectStore) async throws {
        let lookUp = await store.value(for: .test, of: [.test], allowance: WaitAllowance())
        let generations = try #require(lookUp.generations?.first)
        #expect(store.store(.test("value"), for: .test, of: [.test], under: [generations], seconds: 0))
        try #require(await eventually { store.statistics.queueBytes == 0 })
    }

    private func isFound(in store: ObjectStore) async -> Bool {
        await store.value(for: .test, of: [.test], allowance: WaitAllowance()).value != nil
    }

    @Test func `what an instance before has noted in a bucket is removed by tag, and nothing else`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place)
        one.note(tag, of: named)
        try await write(to: one)
        one.note(tag, of: named)
        try #require(await eventually { one.statistics.queueBytes == 0 })
        #expect(one.statistics.writes == 2, "a tag was written twice")
        let later = try await objectStore(place)
        let other = TagRemoval(of: try #require(SharedTag("product-8"))) { sources in #expect(sources.isEmpty) }
        #expect(await later.purge(other))
        #expect(await isFound(in: later))
        #expect(await later.purge(removal))
        #expect(await !isFound(in: later))
        #expect(foundNames == [named.name])
    }

    @Test func `a tag that is noted while it is purged has its source removed`() async throws {
        let place = ObjectsInMemory()
        let (one, other) = (try await objectStore(place), try await objectStore(place))
        try await write(to: one)
        #expect(await isFound(in: one))
        let gate = Gate()
        place.hold(writes: gate)
        one.note(tag, of: named)
        // The generation of the tag was read, and the source under it is about to be written.
        await gate.arrivals(1)
        place.hold()
        #expect(await other.purge(removal))
        #expect(foundNames.isEmpty)
        #expect(await isFound(in: other))
        gate.open()
        #expect(await eventually { await !isFound(in: other) })
    }

    @Test func `what is written after a purge about a source that was asked for before it is not found`() async throws {
        let place = ObjectsInMemory()
        let (one, other) = (try await objectStore(place), try await objectStore(place))
        let generations = try #require(
            await one.value(for: .test, of: [.test], allowance: WaitAllowance()).generations?.first)
        let gate = Gate()
        place.hold(writes: gate)
        // All writers are busy, so that what is noted waits.
        for number in 0..<ObjectStore.mostWriters {
            let key = SharedKey(of: [UInt8(number)])
            #expect(one.store(.test("busy"), for: key, of: [.test], under: [generations], seconds: 0))
        }
        await gate.arrivals(ObjectStore.mostWriters)
        for _ in 0..<2 { one.note(tag, of: named) }
        #expect(one.store(.test("old"), for: .test, of: [.test], under: [generations], seconds: 0))
        try #require(await eventually { place.asked.contains(ObjectNames.generation(tag.label)) })
        place.hold()
        #expect(await other.purge(removal))
        #expect(foundNames.isEmpty)
        gate.open()
        try #require(await eventually { one.statistics.queueBytes == 0 })
        #expect(one.statistics.writes == ObjectStore.mostWriters + 2, "what waits is written twice")
        #expect(await eventually { await !isFound(in: other) })
        #expect(await other.purge(removal))
        #expect(foundNames == [named.name])
    }

    @Test func `what is noted takes room in the queue, and is noted again if that was not to be had`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place) { $0.maximumQueueBytes = 2 * named.queuedLength }
        let gate = Gate()
        place.hold(writes: gate)
        let tags = try (0..<3).map { try #require(SharedTag("tag-\($0)")) }
        for tag in tags { one.note(tag, of: named) }
        #expect(one.statistics.droppedWrites == 1)
        place.fail(writes: true)
        gate.open()
        try #require(await eventually { one.statistics.queueBytes == 0 })
        place.fail()
        place.hold()
        for tag in tags {
            one.note(tag, of: named)
            try #require(await eventually { one.statistics.queueBytes == 0 })
        }
        #expect(one.statistics.writes == 3)
    }

    @Test func `a source under a tag is noted again after a day, because operators may remove what is old`() {
        var notes = TagNotes()
        #expect(notes.take(named, under: tag, at: .seconds(5)) == .askAndWrite)
        #expect(notes.take(named, under: tag, at: .seconds(86_399)) == .nothing)
        #expect(notes.take(named, under: tag, at: .seconds(86_400)) == .askAndWrite)
    }

    @Test func `a removal that the place has not confirmed is tried once more at the end`() async throws {
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
        // The next try is an hour away.
        try #require(await eventually { gate.arrivedCount == 2 })
        place.fail()
        await one.stop(timeLimit: .patience)
        #expect(await !isFound(in: other))
    }

    @Test func `a place that cannot tell its names is emptied`() async throws {
        let place = ObjectsInMemory()
        let one = try await objectStore(place)
        try await write(to: one)
        place.fail(listings: true)
        #expect(await one.purge(removal))
        #expect(
            await eventually { await one.value(for: .test, of: [.test], allowance: WaitAllowance()).result == .miss })
    }
}
