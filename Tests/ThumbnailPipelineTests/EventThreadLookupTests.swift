import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import SharedCaching
import Telemetry
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Lookups in the shared cache that need no task.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct EventThreadLookupTests {
    private let server: FakeRedis

    init() throws { server = try FakeRedis() }

    private func instance(
        diskFolder: String? = nil, cacheControl: String = "max-age=100"
    ) async throws -> PipelineFixture {
        let fixture = try PipelineFixture(diskFolder: diskFolder, sharedCache: server.url)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl, eTag: "\"1\"")
        let store = try #require(fixture.sharedStore)
        try #require(await eventually(within: .queueTimeout) { store.isUp })
        return fixture
    }

    /// Waits until all writes of the instance have reached the server.
    private func settled(_ fixture: PipelineFixture) async throws {
        let store = try #require(fixture.sharedStore)
        try #require(await eventually(within: .queueTimeout) { store.statistics.values.bytes == 0 })
    }

    /// Two instances; the first one has rendered and shared a result.
    private func pair(cacheControl: String = "max-age=100") async throws -> (PipelineFixture, PipelineFixture) {
        let (one, other) = (
            try await instance(cacheControl: cacheControl), try await instance(cacheControl: cacheControl)
        )
        _ = try await one.thumbnail()
        try await settled(one)
        return (one, other)
    }

    private func look(_ fixture: PipelineFixture, width: Int = 20) -> (any PendingLookup)? {
        fixture.pipeline.pendingLookup(for: fixture.pipeline.resolved(.path(width: width)))
    }

    private func ask(_ look: any PendingLookup) async -> PendingLookupOutcome {
        await withCheckedContinuation { continuation in look.begin { continuation.resume() } }
        return look.finish()
    }

    /// Queries until the lookup ends with a thumbnail or needs a task.
    private func end(
        of look: any PendingLookup
    ) async -> (thumbnail: Thumbnail?, questions: Int, earlier: EarlierLookup?) {
        var questions = 0
        while true {
            questions += 1
            switch await ask(look) {
            case .thumbnail(let thumbnail): return (thumbnail, questions, nil)
            case .queryAgain: continue
            case .needsTask(let earlier): return (nil, questions, earlier)
            }
        }
    }

    private func thumbnail(_ look: any PendingLookup) async -> Thumbnail? { await end(of: look).thumbnail }

    private func rest(_ fixture: PipelineFixture, after look: EarlierLookup?, width: Int = 20) async throws -> Thumbnail
    {
        let job = Job(fixture.pipeline.resolved(.path(width: width)), receipt: "receipt")
        return try await fixture.pipeline.thumbnail(
            for: look.map { job.after($0) } ?? job)
    }

    // Reading the log queries only the generation of everything, so that query is not counted.
    private var lookUps: Int { server.commands.count { $0[0] == "MGET" && $0.count > 2 } }

    @Test func `a lookup requests the record first, and the result only if the record is known`() async throws {
        let (one, other) = try await pair()
        let first = try await one.thumbnail()
        let (found, questions, _) = await end(of: try #require(look(other)))
        let second = try #require(found)
        #expect(questions == 2)
        #expect(second.statusTexts == ["alula-result fwd=uri-miss stored", "alula-shared hit"])
        #expect(second.eTag == first.eTag && second.image.bytes.array == first.image.bytes.array)
        #expect(other.pipeline.cachedThumbnail(for: .path()) != nil)
        #expect(other.metric("alula_cache_requests_total{cache=\"result\",result=\"miss\"}") == 1)
        other.caches.memory.results.removeAll()
        let (again, fewer, _) = await end(of: try #require(look(other)))
        #expect(again?.eTag == first.eTag && fewer == 1)
        #expect(other.origin.loads == 0 && other.renders == 0)
    }

    @Test func `the task after a lookup does not repeat the lookup's queries at once`() async throws {
        let (_, other) = try await pair()
        let before = lookUps
        // The record is found, the result is not.
        let narrow = try #require(look(other, width: 11))
        let narrowed = await end(of: narrow)
        #expect(narrowed.thumbnail == nil)
        #expect(try await rest(other, after: narrowed.earlier, width: 11).image.size.width == 11)
        // Before the render there is another lookup, because another instance may have rendered it during the fetch.
        #expect(lookUps == before + 3 && other.renders == 1)
        // Nothing is found.
        let third = try await instance()
        server.fail(.lying)
        let wrong = try #require(look(third))
        let misled = await end(of: wrong)
        #expect(misled.questions == 1)
        server.fail(nil)
        let asked = lookUps
        _ = try await rest(third, after: misled.earlier)
        #expect(third.origin.loads == 1)
        // The result is requested only now, because the source was unknown before.
        #expect(lookUps == asked + 1)
    }

    @Test func `other requests for the same result use tasks until the lookup ends`() async throws {
        let (one, other) = try await pair()
        #expect(await thumbnail(try #require(look(other))) != nil)
        other.caches.memory.results.removeAll()
        #expect(one.renders == 1)
        do {
            let first = try #require(look(other))
            #expect(look(other) == nil)
            #expect(look(other, width: 12) != nil)
            #expect(await thumbnail(first) != nil)
        }
        other.caches.memory.results.removeAll()
        // An abandoned lookup also allows the next one.
        do { _ = try #require(look(other)) }
        #expect(look(other) != nil)
    }

    @Test func `a value read before a purge is not stored after it`() async throws {
        let (_, other) = try await pair()
        let record = try #require(look(other))
        await withCheckedContinuation { continuation in record.begin { continuation.resume() } }
        other.caches.forget(try other.downloader.identity(of: Request.path().source), cause: .fleet)
        guard case .needsTask = record.finish() else {
            Issue.record("a record was used that had been removed")
            return
        }
        _ = try await other.thumbnail()
        try await settled(other)
        other.caches.memory.results.removeAll()
        let result = try #require(look(other))
        await withCheckedContinuation { continuation in result.begin { continuation.resume() } }
        other.caches.forget(try other.downloader.identity(of: Request.path().source), cause: .fleet)
        _ = result.finish()
        #expect(other.caches.memory.results.statistics.usage.entries == 0)
        #expect(other.caches.changes.withLock { $0.count } == 0)
    }

    @Test func `a stale record is replaced by a newer one, and otherwise left to a task`() async throws {
        let (one, other) = try await pair(cacheControl: "max-age=10")
        #expect(await thumbnail(try #require(look(other))) != nil)
        for fixture in [one, other] { fixture.time.clock.advance(by: .seconds(20)) }
        let stale = try #require(look(other))
        #expect(await thumbnail(stale) == nil)
        one.origin.serve(SampleFiles.other, cacheControl: "max-age=10", eTag: "\"2\"")
        let new = try await one.thumbnail()
        try await settled(one)
        #expect(await thumbnail(try #require(look(other)))?.eTag == new.eTag)
        #expect(other.origin.loads == 0)
    }

    @Test func `there is no lookup with a disk, without a server, or for an unshared source`() async throws {
        let folder = TemporaryFolder()
        #expect(look(try await instance(diskFolder: folder.path)) == nil)
        #expect(look(try PipelineFixture()) == nil)
        let one = try await instance()
        let local = try #require(one.pipeline.pendingLookup(for: one.pipeline.resolved(.local)))
        #expect(await thumbnail(local) == nil)
        #expect(lookUps == 0)
        let store = try #require(one.sharedStore)
        server.stop()
        try #require(await eventually(within: .queueTimeout) { !store.isUp })
        #expect(look(one) == nil)
    }

    @Test func `a lookup ended by the server's loss is followed by a task`() async throws {
        let (_, other) = try await pair()
        let waiting = try #require(look(other))
        let gate = ThreadGate()
        server.fail(.held(gate))
        async let outcome = end(of: waiting)
        await gate.arrivals(1)
        server.stop()
        let ended = await outcome
        #expect(ended.thumbnail == nil)
        gate.open()
        #expect(try await rest(other, after: ended.earlier).image.size.width == 20)
        #expect(other.origin.loads == 1)
    }
}
