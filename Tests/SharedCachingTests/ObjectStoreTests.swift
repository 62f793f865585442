import Coordination
import Memory
import Telemetry
import TestSupport
import Testing

@testable import SharedCaching

extension ObjectsInMemory: ObjectContainer {}
extension ObjectsInMemory.Failure: ObjectContainerFailure {}

/// Values in a folder or bucket, with generations of the store.
@Suite(.timeLimit(.minutes(2)))
struct ObjectStoreTests {
    private let place = ObjectsInMemory()
    private let log = LinesSink()

    /// A store that is in use.
    private func store(
        _ configure: (inout SharedStoreConfiguration) -> Void = { _ in }
    ) async throws -> SharedStore {
        let store = try startedStore(configure)
        try #require(await eventually { store.isUp })
        return store
    }

    private func startedStore(
        _ configure: (inout SharedStoreConfiguration) -> Void = { _ in }
    ) throws -> SharedStore {
        var configuration = SharedStoreConfiguration()
        configuration.timeout = .queueTimeout
        configuration.interval = .milliseconds(20)
        configure(&configuration)
        let store = SharedStore(
            place, configuration: configuration, logger: Logger(level: .debug, sink: log),
            timekeeper: SystemTimekeeper())
        try store.start()
        return store
    }

    private func lookup(in store: SharedStore, _ allowance: WaitBudget = WaitBudget()) async -> SharedLookup {
        await store.value(for: .test, of: [.test], allowance: allowance)
    }

    private func begin(_ store: SharedStore) async throws -> SharedGenerations {
        try #require(await lookup(in: store).generations?.first)
    }

    private func write(_ text: String = "value", to store: SharedStore, under generations: SharedGenerations) {
        #expect(store.store(.test(text), for: .test, of: [.test], under: [generations], seconds: 0))
    }

    private func settled(_ store: SharedStore) async throws {
        try #require(await eventually { store.statistics.values.bytes == 0 })
    }

    private func text(in store: SharedStore) async -> String? {
        await lookup(in: store).value.map { String(decoding: $0.body.array, as: UTF8.self) }
    }

    @Test func `a value from one instance is found by another, and by one started later`() async throws {
        let (one, other) = (try await store(), try await store())
        let generations = try await begin(one)
        #expect(place.objects.count == 1, "a lookup wrote something")
        write(to: one, under: generations)
        try await settled(one)
        #expect(one.statistics.values.written == 1)
        #expect(await text(in: other) == "value")
        #expect(await text(in: try await store()) == "value")
        #expect(other.statistics.requests == [.hit: 1])
    }

    @Test func `a purge reaches values of other instances, and a write in progress`() async throws {
        let (one, other) = (try await store(), try await store())
        let generations = try await begin(one)
        write(to: one, under: generations)
        try await settled(one)
        let gate = Gate()
        place.hold(writes: gate)
        write("late", to: one, under: generations)
        await gate.arrivals(1)
        place.hold()
        #expect(await other.purge(.test, name: "a") == .done)
        gate.open()
        try await settled(one)
        #expect(await lookup(in: one).result == .miss)
        #expect(await lookup(in: other).result == .miss)
        write("new", to: one, under: try await begin(one))
        try await settled(one)
        #expect(await text(in: other) == "new")
        #expect(await other.value(for: .test, of: [SharedSource(of: [7])], allowance: WaitBudget()).value == nil)
    }

    @Test func `a purge of everything reaches other instances within an interval`() async throws {
        let (one, other) = (try await store(), try await store())
        write(to: one, under: try await begin(one))
        try await settled(one)
        #expect(await text(in: other) == "value")
        #expect(await one.purgeEverything() == .done)
        #expect(await text(in: one) == nil)
        #expect(await eventually { await text(in: other) == nil })
    }

    @Test func `a failed purge is retried later, and its source is not read until then`() async throws {
        let one = try await store()
        write(to: one, under: try await begin(one))
        try await settled(one)
        let gate = Gate()
        place.hold(writes: gate)
        let purge = Task { await one.purge(.test, name: "a") }
        await gate.arrivals(1)
        place.fail(writes: true)
        gate.open()
        #expect(await lookup(in: one).result == nil)
        let other = SharedSource(of: [9])
        #expect(await one.value(for: .test, of: [other], allowance: WaitBudget()).result != nil)
        place.fail()
        #expect(await purge.value != .rejected)
        #expect(await eventually { await lookup(in: one).result == .miss })
    }

    @Test func `an emptied store brings nothing back`() async throws {
        let one = try await store()
        let generations = try await begin(one)
        write(to: one, under: generations)
        try await settled(one)
        let kept = place.objects
        place.objects = [:]
        #expect(await eventually { await lookup(in: one).generations?.first.map { $0 != generations } ?? false })
        place.objects = kept.merging(place.objects) { $1 }
        #expect(await lookup(in: one).result == .miss)
    }

    @Test(arguments: 0..<3)
    func `a truncated or changed value, or one with another signature, is rejected`(kind: Int) async throws {
        let one = try await store()
        write(to: one, under: try await begin(one))
        try await settled(one)
        place.rewriteValues { bytes in
            switch kind {
            case 0: Array(bytes.prefix(bytes.count / 2))
            case 1: bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
            default: bytes
            }
        }
        let reader = kind == 2 ? try await store { $0.key = [1, 2, 3] } : one
        let tagged = await lookup(in: reader)
        #expect(tagged.value == nil && tagged.result == .rejected)
    }

    @Test func `an invalid generation turns a hit into a miss`() async throws {
        let one = try await store()
        write(to: one, under: try await begin(one))
        try await settled(one)
        let name = ObjectNames.generation(SharedSource.test.label)
        place.objects[name] = [1, 2, 3]
        let tagged = await lookup(in: one)
        #expect(tagged.result == .miss && tagged.generations == nil)
        place.objects[name] = nil
        #expect(await text(in: one) == "value")
    }

    @Test func `a value that does not fit the queue is dropped without waiting`() async throws {
        let one = try await store { $0.maximumQueueBytes = 5 * CacheValue.test("value").length(generations: 2) }
        let generations = try await begin(one)
        let gate = Gate()
        place.hold(writes: gate)
        for _ in 0..<5 { write(to: one, under: generations) }
        #expect(!one.store(.test("value"), for: .test, of: [.test], under: [generations], seconds: 0))
        #expect(one.statistics.values.dropped == 1)
        gate.open()
        try await settled(one)
        #expect(one.statistics.values.written == 5)
    }

    @Test func `a full store fails only writes`() async throws {
        let one = try await store()
        let generations = try await begin(one)
        write(to: one, under: generations)
        try await settled(one)
        place.fail(writes: true)
        write("more", to: one, under: generations)
        try await settled(one)
        #expect(one.statistics.values.dropped == 1 && one.isUp && one.statistics.state == "up")
        place.fail(isFull: true)
        for _ in 0..<3 {
            _ = one.store(.test("more"), for: .test, of: [.test], under: [generations], seconds: 0)
            try await settled(one)
        }
        #expect(one.statistics.values.dropped == 4 && one.isUp && one.statistics.state == "full")
        #expect(
            log.messages == ["result store in use", "result store rejects writes", "result store full; read-only"])
        #expect(await text(in: one) == "value")
    }

    @Test func `a silent store delays a request once, and three requests in total`() async throws {
        let one = try await store { $0.timeout = .milliseconds(50) }
        let gate = Gate()
        place.hold(reads: gate)
        let allowance = WaitBudget()
        #expect(await lookup(in: one, allowance).result == .timeout)
        #expect(await lookup(in: one, allowance).result == nil, "the request has no time left")
        #expect(await lookup(in: one).result == .timeout)
        #expect(await lookup(in: one).result == .timeout)
        #expect(one.statistics.state == "suspended")
        #expect(await lookup(in: one).result == nil)
        #expect(one.statistics.requests == [.timeout: 3])
        place.hold()
        gate.open()
        #expect(await eventually { one.isUp })
    }

    @Test func `a failing store is not contacted, and is used again when it responds`() async throws {
        place.fail(reads: true)
        let one = try startedStore()
        await log.reached { $0 == ["result store unreachable"] }
        #expect(await lookup(in: one).result == nil)
        #expect(!one.store(.test("a"), for: .test, of: [.test], under: [], seconds: 0))
        place.fail()
        try #require(await eventually { one.isUp })
        let generations = try await begin(one)
        place.fail(reads: true)
        for _ in 0..<3 { #expect(await lookup(in: one).result == .error) }
        #expect(!one.isUp)
        place.fail()
        try #require(await eventually { one.isUp })
        write(to: one, under: generations)
        try await settled(one)
        #expect(await text(in: one) == "value")
    }

    @Test func `a start waits for the store, up to a lookup's limit`() async throws {
        let gate = Gate()
        place.hold(reads: gate)
        let start = ContinuousClock.now
        let silent = try startedStore { $0.timeout = .milliseconds(50) }
        silent.waitForFirstProbe()
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        #expect(!silent.isUp)
        gate.open()
        // Returns at once if the place has responded.
        try await store().waitForFirstProbe()
    }

    @Test func `a read-only store writes only removals`() async throws {
        let one = try await store()
        write(to: one, under: try await begin(one))
        try await settled(one)
        let reader = try await store { $0.isReadOnly = true }
        let before = place.objects
        #expect(await text(in: reader) == "value")
        let generations = try await begin(reader)
        #expect(!reader.store(.test("b"), for: .test, of: [.test], under: [generations], seconds: 0))
        #expect(place.objects == before)
        #expect(await reader.purge(.test, name: "a") == .done)
        #expect(await text(in: one) == nil)
    }

    @Test func `the shutdown waits for writes, up to its limit`() async throws {
        let one = try await store()
        let generations = try await begin(one)
        let gate = Gate()
        place.hold(writes: gate)
        write(to: one, under: generations)
        await gate.arrivals(1)
        await one.shutDown(timeLimit: .milliseconds(1))
        #expect(place.valueCount == 0)
        let end = Task { await one.shutDown(timeLimit: .queueTimeout) }
        gate.open()
        await end.value
        #expect(place.valueCount == 1)
        #expect(!one.isUp && !one.store(.test("b"), for: .test, of: [.test], under: [generations], seconds: 0))
    }
}
