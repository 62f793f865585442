import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import SharedCaching
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Purges of all sources that were requested with a tag.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct TagPurgeTests {
    /// An instance whose origin serves a cacheable image.
    private func instance(
        _ server: FakeRedis? = nil, diskFolder: String? = nil, objects: ObjectsInMemory? = nil
    ) async throws -> PipelineFixture {
        let fixture = try PipelineFixture(diskFolder: diskFolder, sharedCache: server?.url, objects: objects)
        for path in ["/a", "/b"] {
            fixture.origin.serve(SampleFiles.jpeg, at: path, cacheControl: "max-age=100", eTag: "\"1\"")
        }
        if let store = fixture.sharedStore { try #require(await eventually { store.isUp }) }
        if let store = fixture.resultStore { try #require(await eventually { store.isUp }) }
        return fixture
    }

    private func request(_ path: String = "/a", width: Int = 20, _ tags: ExactText...) -> Request {
        var request = Request.path(path, width: width)
        request.tags = tags
        return request
    }

    /// Waits until all writes of the instance have reached the shared layers.
    private func settled(_ fixture: PipelineFixture) async throws {
        try #require(
            await eventually {
                [fixture.sharedStore?.statistics, fixture.resultStore?.statistics].allSatisfy {
                    ($0?.values.bytes ?? 0) + ($0?.tags.bytes ?? 0) == 0
                }
            })
    }

    private func isCached(_ fixture: PipelineFixture, _ path: String = "/a", width: Int = 20) -> Bool {
        fixture.pipeline.cachedThumbnail(for: fixture.pipeline.resolved(request(path, width: width))) != nil
    }

    @Test func `tags change neither the result nor its entity tag`() async throws {
        let fixture = try await instance()
        let plain = try await fixture.thumbnail(of: request())
        let tagged = try await fixture.thumbnail(of: request("/a", "product-7", "b"))
        #expect(tagged.statusTexts == ["alula-result hit"] && tagged.eTag == plain.eTag && fixture.renders == 1)
    }

    @Test func `a purge by tag removes all results of the sources requested under it, and no others`() async throws {
        let fixture = try await instance()
        _ = try await fixture.thumbnail(of: request())
        _ = try await fixture.thumbnail(of: request("/a", width: 10, "x", "y"))
        _ = try await fixture.thumbnail(of: request("/b", "z"))
        #expect(try await fixture.control.remove(tag: "nobody's") == RemovedEntries())
        #expect(try await fixture.control.remove(tag: "y").entries >= 4, "two results, pixels and the source")
        #expect(!isCached(fixture) && !isCached(fixture, width: 10) && isCached(fixture, "/b"))
        #expect(try await fixture.control.remove(tag: "x").entries == 0)
    }

    @Test func `a tag of a hit counts, also after a purge`() async throws {
        let fixture = try await instance()
        _ = try await fixture.thumbnail(of: request())
        let tagged = fixture.pipeline.resolved(request("/a", "x"))
        for _ in 0..<2 {
            #expect(fixture.pipeline.cachedThumbnail(for: tagged) != nil)
            fixture.pipeline.recordTags(of: tagged, by: nil)
            #expect(try await fixture.control.remove(tag: "x").entries > 0)
            #expect(!isCached(fixture))
            _ = try await fixture.thumbnail(of: request())
        }
    }

    @Test func `a purge by tag overrides a fetch in progress`() async throws {
        let fixture = try await instance()
        let gate = fixture.origin.hold()
        let first = Task { try await fixture.thumbnail(of: request("/a", "x")) }
        await gate.arrivals(1)
        _ = try await fixture.control.remove(tag: "x")
        gate.open()
        _ = try await first.value
        #expect(!isCached(fixture))
    }

    @Test func `tags on the disk outlive a restart`() async throws {
        let folder = TemporaryFolder()
        let first = try await instance(diskFolder: folder.path)
        _ = try await first.thumbnail(of: request("/a", "x"))
        await first.store?.shutDown(timeLimit: .queueTimeout)
        let second = try await instance(diskFolder: folder.path)
        _ = try await second.thumbnail(of: request())
        #expect(second.origin.loads == 0 && isCached(second))
        #expect(try await second.control.remove(tag: "x").entries > 0)
        #expect(!isCached(second))
        _ = try await second.thumbnail(of: request())
        #expect(second.origin.loads == 1)
    }

    @Test func `a purge by tag reaches instances without requests under it, and their shared values`() async throws {
        let server = try FakeRedis()
        let (one, other, third) = (try await instance(server), try await instance(server), try await instance(server))
        _ = try await one.thumbnail(of: request("/a", "x"))
        try await settled(one)
        _ = try await other.thumbnail(of: request())
        #expect(other.origin.loads == 0 && isCached(other))
        _ = try await third.control.remove(tag: "x")
        #expect(await eventually { !isCached(one) && !isCached(other) })
        _ = try await third.thumbnail(of: request())
        #expect(third.origin.loads == 1, "the shared cache had it still")
    }

    @Test func `a tag that only one instance knows purges the others, too`() async throws {
        let server = try FakeRedis()
        let (one, other) = (try await instance(server), try await instance(server))
        _ = try await one.thumbnail(of: request("/a", "x"))
        try await settled(one)
        _ = try await other.thumbnail(of: request())
        server.forgetSets()
        _ = try await other.control.remove(tag: "x")
        #expect(await eventually { !isCached(one) && !isCached(other) })
    }

    @Test func `tags in a store outlive all instances`() async throws {
        let objects = ObjectsInMemory()
        let first = try await instance(objects: objects)
        _ = try await first.thumbnail(of: request("/a", "x"))
        try await settled(first)
        let second = try await instance(objects: objects)
        _ = try await second.thumbnail(of: request())
        #expect(second.origin.loads == 0 && isCached(second))
        #expect(try await second.control.remove(tag: "x").entries > 0)
        #expect(!isCached(second))
        _ = try await second.thumbnail(of: request())
        #expect(second.origin.loads == 1)
    }

    @Test func `never-served sources take no tags from others, and have none`() async throws {
        let fixture = try await instance()
        _ = try await fixture.thumbnail(of: request("/a", "mine"))
        for number in 0..<200 {
            let tags = (0..<8).map { ExactText("t-\(number)-\($0)") }
            var dead = request("/dead")
            dead.tags = tags
            await #expect(throws: (any Error).self) { _ = try await fixture.thumbnail(of: dead) }
        }
        #expect(fixture.caches.tagIndex.withLock(\.byteCount) == TagIndex.cost)
        #expect(fixture.caches.sources(under: "t-0-0").isEmpty)
        #expect(try await fixture.control.remove(tag: "mine").entries > 0)
    }

    @Test func `a client can add a limited number of tags to a source, and others can add theirs`() async throws {
        let fixture = try await instance()
        _ = try await fixture.thumbnail(of: request("/a", "mine"))
        let hostile = ClientNetwork(of: IPAddress("192.0.2.1"))
        for number in 0..<20_000 {
            fixture.pipeline.recordTags(of: fixture.pipeline.resolved(request("/a", "t\(number)")), by: hostile)
        }
        #expect(fixture.caches.tagIndex.withLock(\.droppedCount) > 19_000)
        _ = try await fixture.thumbnail(of: request("/a", "mine"))
        #expect(fixture.origin.loads <= 1 + 300 / TagIndex.maximumTags)
        fixture.pipeline.recordTags(
            of: fixture.pipeline.resolved(request("/a", "other")), by: ClientNetwork(of: IPAddress("192.0.2.2")))
        #expect(try await fixture.control.remove(tag: "other").entries > 0)
    }
}
