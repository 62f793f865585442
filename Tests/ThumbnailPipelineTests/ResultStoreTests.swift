import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Memory
import Recipes
import SharedCaching
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The result store below memory, disk and shared cache.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ResultStoreTests {
    private let objects = ObjectsInMemory()

    /// An instance with the store; its origin serves a cacheable image.
    private func instance(
        versions: String = "test", isEphemeral: Bool = false, cacheControl: String = "max-age=100",
        sharedCache: String? = nil, diskFolder: String? = nil, sharesSources: Bool = false
    ) async throws -> PipelineFixture {
        let fixture = try PipelineFixture(
            diskFolder: diskFolder, versions: versions, sharedCache: sharedCache, isEphemeral: isEphemeral,
            objects: objects, sharesSources: sharesSources)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl, eTag: "\"1\"")
        let (store, cache) = (try #require(fixture.resultStore), fixture.sharedStore)
        if !isEphemeral { try #require(await eventually { store.isUp && cache?.isUp ?? true }) }
        return fixture
    }

    /// Waits until all writes of the instance have reached the store.
    private func settled(_ fixture: PipelineFixture) async throws {
        let (store, cache) = (try #require(fixture.resultStore), fixture.sharedStore)
        try #require(await eventually { store.statistics.values.bytes + (cache?.statistics.values.bytes ?? 0) == 0 })
    }

    @Test func `the bytes of sources are never stored, because they are never looked up here`() async throws {
        let one = try await instance(sharesSources: true)
        _ = try await one.thumbnail()
        try await settled(one)
        #expect(objects.valueCount == 2, "a record and a result")
        #expect(!CachedSources(one.caches).hasLayerBelowMemory)
    }

    @Test func `a result is found by an instance started later, which fetches and renders nothing`() async throws {
        let one = try await instance()
        let first = try await one.thumbnail()
        #expect(
            first.statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-store fwd=uri-miss stored",
                "alula-decoded fwd=uri-miss stored", "alula-source fwd=uri-miss stored",
            ])
        try await settled(one)
        #expect(objects.valueCount == 2, "a record and a result")
        let other = try await instance()
        let second = try await other.thumbnail()
        #expect(second.statusTexts == ["alula-result fwd=uri-miss stored", "alula-store hit"])
        #expect(second.image.bytes.array == first.image.bytes.array && second.eTag == first.eTag)
        #expect(other.origin.loads == 0 && other.decodes == 0 && other.renders == 0)
        let asked = objects.asked.count
        #expect(try await other.thumbnail().statusTexts == ["alula-result hit"])
        #expect(objects.asked.count == asked, "a hit asked the store")
    }

    @Test func `a stale source is confirmed, and its result served without a render`() async throws {
        let one = try await instance()
        _ = try await one.thumbnail()
        try await settled(one)
        let other = try await instance()
        other.time.clock.advance(by: .seconds(200))
        _ = try await other.thumbnail()
        #expect(other.origin.loads == 1 && other.renders == 0 && other.decodes == 0)
    }

    @Test func `the disk and the shared cache come first`() async throws {
        let server = try FakeRedis()
        let one = try await instance(sharedCache: server.url)
        _ = try await one.thumbnail()
        try await settled(one)
        let asked = objects.asked.count
        let other = try await instance(sharedCache: server.url)
        #expect(try await other.thumbnail().statusTexts.contains("alula-shared hit"))
        #expect(objects.asked.dropFirst(asked).filter { $0.hasPrefix("alula-1/v/") }.isEmpty)
    }

    @Test func `a value from the store is copied to an empty shared cache`() async throws {
        let one = try await instance()
        _ = try await one.thumbnail()
        try await settled(one)
        let server = try FakeRedis()
        let other = try await instance(sharedCache: server.url)
        #expect(
            try await other.thumbnail().statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-shared fwd=uri-miss", "alula-store hit",
            ])
        await server.keys("alula:1:v:", 2)
        let third = try await instance(sharedCache: server.url)
        #expect(try await third.thumbnail().statusTexts.contains("alula-shared hit"))
    }

    @Test func `instances with other settings share nothing`() async throws {
        let one = try await instance()
        _ = try await one.thumbnail()
        try await settled(one)
        let other = try await instance(versions: "later")
        #expect(!(try await other.thumbnail().statusTexts.contains("alula-store hit")))
        #expect(other.origin.loads == 1)
    }

    @Test(arguments: ["private, max-age=100", "no-store"])
    func `a value that a shared cache may not store is not stored`(cacheControl: String) async throws {
        let one = try await instance(cacheControl: cacheControl)
        let before = objects.objects
        _ = try await one.thumbnail()
        try await settled(one)
        #expect(objects.objects == before)
    }

    @Test func `neither uploads nor instance-specific sources are stored`() async throws {
        let one = try await instance()
        let source = try await one.pipeline.open(upload: SampleFiles.jpeg)
        _ = try await one.pipeline.thumbnail(of: source, for: .path())
        one.origin.serve(SampleFiles.jpeg, at: "/local", cacheControl: "max-age=100", eTag: "\"1\"")
        _ = try await one.pipeline.thumbnail(for: Job(one.pipeline.resolved(.local), receipt: "r"))
        try await settled(one)
        #expect(objects.valueCount == 0)
    }

    @Test func `an ephemeral session reads and writes nothing`() async throws {
        let empty = try await instance(isEphemeral: true)
        _ = try await empty.thumbnail()
        #expect(objects.objects.isEmpty)
        let one = try await instance()
        _ = try await one.thumbnail()
        try await settled(one)
        let before = objects.objects
        let reader = try await instance(isEphemeral: true)
        let store = try #require(reader.resultStore)
        try #require(await eventually { store.isUp })
        #expect(try await reader.thumbnail().statusTexts.contains("alula-store hit"))
        _ = try await reader.thumbnail(width: 11)
        #expect(objects.objects == before)
    }

    @Test func `a purge reaches the store, and overrides later writes of other instances`() async throws {
        let (one, other) = (try await instance(), try await instance())
        _ = try await one.thumbnail()
        try await settled(one)
        _ = try await other.control.remove(source: Request.path().source)
        // The first instance has the source in memory, as it was before the purge.
        _ = try await one.thumbnail(width: 11)
        try await settled(one)
        for width in [20, 11] {
            #expect(!(try await other.thumbnail(width: width).statusTexts.contains("alula-store hit")))
        }
        #expect(other.origin.loads == 1)
        try await settled(other)
        #expect(try await instance().thumbnail().statusTexts.contains("alula-store hit"))
        _ = try await other.control.removeAll()
        #expect(!(try await instance().thumbnail().statusTexts.contains("alula-store hit")))
    }

    @Test func `results of a record on disk are stored as well`() async throws {
        let folder = TemporaryFolder()
        do {
            let one = try await instance(diskFolder: folder.path)
            _ = try await one.thumbnail()
            try await settled(one)
            await one.store?.shutDown(timeLimit: .queueTimeout)
        }
        let again = try await instance(diskFolder: folder.path)
        _ = try await again.thumbnail(width: 11)
        try await settled(again)
        #expect(objects.valueCount == 3)
        await again.store?.shutDown(timeLimit: .queueTimeout)
    }

    @Test func `a lost store costs only its hits`() async throws {
        let one = try await instance()
        objects.fail(reads: true, writes: true)
        for width in 10..<20 { _ = try await one.thumbnail(width: width) }
        #expect(one.renders == 10 && one.state(of: .resultStore) != .up)
        #expect(one.metric("alula_result_store_up") == 0)
        objects.fail()
        let store = try #require(one.resultStore)
        #expect(await eventually { store.isUp })
        #expect(one.state(of: .resultStore) == .up)
        #expect(try PipelineFixture().state(of: .resultStore) == nil)
    }
}
