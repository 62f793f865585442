import Coordination
import Crypto
import Downloading
import HTTPTypes
import Memory
import Recipes
import SharedCaching
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The cache that several instances share, below the memory of each.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct SharedLayerTests {
    private let server: FakeRedis

    init() throws { server = try FakeRedis() }

    /// A connected instance; its origin serves a cacheable image.
    private func instance(
        versions: String = "test", isEphemeral: Bool = false, sharesSources: Bool = false,
        staleAllowances: StaleAllowances = StaleAllowances(), cacheControl: String = "max-age=100",
        diskFolder: String? = nil
    ) async throws -> PipelineFixture {
        let fixture = try PipelineFixture(
            staleAllowances: staleAllowances, diskFolder: diskFolder, versions: versions, sharedCache: server.url,
            isEphemeral: isEphemeral, sharesSources: sharesSources)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl, eTag: "\"1\"")
        let store = try #require(fixture.sharedStore)
        try #require(await eventually { store.isUp })
        return fixture
    }

    /// Waits until all writes of the instance have reached the server.
    private func settled(_ fixture: PipelineFixture) async throws {
        let store = try #require(fixture.sharedStore)
        try #require(await eventually { store.statistics.values.bytes == 0 })
    }

    /// Number of values on the server.
    private var valueCount: Int { server.keys.count { $0.hasPrefix("alula:1:v:") } }

    @Test func `a result of one instance is found by another, which fetches and renders nothing`() async throws {
        let (one, other) = (try await instance(), try await instance())
        let first = try await one.thumbnail()
        #expect(
            first.statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-shared fwd=uri-miss stored",
                "alula-decoded fwd=uri-miss stored", "alula-source fwd=uri-miss stored",
            ])
        try await settled(one)
        let second = try await other.thumbnail()
        #expect(second.statusTexts == ["alula-result fwd=uri-miss stored", "alula-shared hit"])
        #expect(second.image.bytes.array == first.image.bytes.array && second.eTag == first.eTag)
        #expect(second.image.size == first.image.size && second.freshness == first.freshness.fromCache)
        #expect(other.origin.loads == 0 && other.decodes == 0 && other.renders == 0)
        #expect(try await other.thumbnail().statusTexts == ["alula-result hit"])
        #expect(other.pipeline.cachedThumbnail(for: .path()) != nil)
    }

    @Test func `a forged record with a valid hash costs only a fetch`() async throws {
        let one = try await instance()
        let first = try await one.thumbnail()
        try await settled(one)
        let identity = try one.downloader.identity(of: Request.path().source)
        // The record's widths, dates and counts are among these numbers.
        for place in stride(from: 0, to: 400, by: 8) {
            for number in [Int.min, -1, Int.max] {
                server.rewrite("alula:1:v:") { Self.forged($0, number, at: place + 4) }
                one.caches.forget(identity, cause: .fleet)
                let again = try await one.thumbnail()
                #expect(again.image.bytes.array == first.image.bytes.array)
                try await settled(one)
            }
        }
        #expect(one.origin.loads > 60, "hardly any forgery was noticed")
    }

    /// A value with another number at a position of its header, and a valid hash.
    private static func forged(_ value: [UInt8], _ number: Int, at place: Int) -> [UInt8] {
        // Magic, length, key, number of generations, two generations, and length of the header.
        let start = 8 + 8 + 32 + 1 + 2 * 22 + 4
        var bytes = Array(value.dropLast(32))
        // Only the header contains numbers to forge; without a key, the body of a result can be forged anyway.
        let headLength = Int(bytes[start - 4]) | Int(bytes[start - 3]) << 8
        for shift in 0..<8 where place + shift < headLength {
            bytes[start + place + shift] = UInt8(truncatingIfNeeded: number >> (shift * 8))
        }
        return bytes + SharedBytes(bytes).withBytes { SHA256.hash($0) }.bytes
    }

    @Test func `another size is fetched by the instance that needs it, and then found by all`() async throws {
        let (one, other) = (try await instance(), try await instance())
        _ = try await one.thumbnail()
        try await settled(one)
        _ = try await other.thumbnail(width: 11)
        #expect(other.origin.loads == 1 && other.renders == 1)
        try await settled(other)
        #expect(try await one.thumbnail(width: 11).statusTexts.contains("alula-shared hit"))
        #expect(one.origin.loads == 1 && one.renders == 1)
    }

    @Test func `with the bytes of sources, another size costs no fetch`() async throws {
        let (one, other) = (try await instance(sharesSources: true), try await instance(sharesSources: true))
        _ = try await one.thumbnail()
        try await settled(one)
        _ = try await other.thumbnail(width: 11)
        #expect(other.origin.loads == 0 && other.renders == 1)
    }

    @Test(arguments: ["private, max-age=100", "no-store"])
    func `a value that a shared cache may not store is not shared`(cacheControl: String) async throws {
        let one = try await instance(cacheControl: cacheControl)
        _ = try await one.thumbnail()
        try await settled(one)
        #expect(valueCount == 0)
    }

    @Test func `neither uploads nor instance-specific sources are shared`() async throws {
        let one = try await instance()
        let source = try await one.pipeline.open(upload: SampleFiles.jpeg)
        _ = try await one.pipeline.thumbnail(of: source, for: .path())
        one.origin.serve(SampleFiles.jpeg, at: "/local", cacheControl: "max-age=100", eTag: "\"1\"")
        _ = try await one.pipeline.thumbnail(for: Job(one.pipeline.resolved(.local), receipt: "r"))
        #expect(!server.commands.contains { $0[0] == "MGET" && $0.count > 2 })
        #expect(valueCount == 0)
    }

    @Test func `instances with other settings share nothing`() async throws {
        let (one, other) = (try await instance(), try await instance(versions: "later"))
        _ = try await one.thumbnail()
        try await settled(one)
        #expect(!(try await other.thumbnail().statusTexts.contains("alula-shared hit")))
        #expect(other.origin.loads == 1)
    }

    @Test func `a value that is no longer cacheable is withdrawn`() async throws {
        let (one, other) = (try await instance(cacheControl: "max-age=10"), try await instance())
        _ = try await one.thumbnail()
        try await settled(one)
        one.time.clock.advance(by: .seconds(20))
        one.origin.serve(SampleFiles.other, cacheControl: "no-store", eTag: "\"2\"")
        _ = try await one.thumbnail()
        // The removal is sent before the lookup.
        await server.commands("DEL")
        _ = try await other.thumbnail()
        #expect(other.origin.loads == 1)
    }

    @Test func `values live while their source is fresh or may be served stale`() async throws {
        var allowances = StaleAllowances()
        allowances.ifError = 50
        let one = try await instance(staleAllowances: allowances)
        _ = try await one.thumbnail()
        try await settled(one)
        let lives = server.commands.filter { $0[0] == "SET" && $0[1].hasPrefix("alula:1:v:") }.map { $0.last }
        #expect(lives == ["150", "150"])
        one.origin.serve(SampleFiles.jpeg, at: "/strict", cacheControl: "max-age=70, must-revalidate", eTag: "\"1\"")
        _ = try await one.thumbnail("/strict")
        try await settled(one)
        #expect(server.commands.last { $0[0] == "SET" && $0[1].hasPrefix("alula:1:v:") }?.last == "70")
    }

    @Test func `a purge reaches memory of all instances, and results of overtaken fetches are not shared`()
        async throws
    {
        let (one, other) = (try await instance(), try await instance())
        _ = try await one.thumbnail()
        try await settled(one)
        _ = try await other.thumbnail()
        // A fetch of the other instance ends after the purge.
        let gate = other.origin.hold()
        let late = other.start("/a", width: 11)
        await gate.arrivals(1)
        #expect(try await one.control.remove(source: "http://example.com/a").entries > 0)
        try #require(
            await eventually { other.pipeline.cachedThumbnail(for: .path()) == nil })
        gate.open()
        _ = try await late.value
        try await settled(other)
        one.origin.serve(SampleFiles.other, cacheControl: "max-age=100", eTag: "\"2\"")
        #expect(!(try await one.thumbnail(width: 11).statusTexts.contains("alula-shared hit")))
        #expect(one.origin.loads == 2)
    }

    @Test func `a stale source is replaced by one that another instance has fetched again`() async throws {
        let (one, other) = (
            try await instance(cacheControl: "max-age=10"), try await instance(cacheControl: "max-age=10")
        )
        _ = try await one.thumbnail()
        try await settled(one)
        _ = try await other.thumbnail()
        for fixture in [one, other] { fixture.time.clock.advance(by: .seconds(20)) }
        one.origin.serve(SampleFiles.other, cacheControl: "max-age=10", eTag: "\"2\"")
        let new = try await one.thumbnail()
        try await settled(one)
        #expect(try await other.thumbnail().eTag == new.eTag)
        #expect(other.origin.loads == 0)
        // The results of the old version are gone.
        #expect(other.caches.memory.results.statistics.usage.entries == 1)
    }

    @Test func `a result of a fetch during the server's outage is shared after it`() async throws {
        let (one, other) = (try await instance(), try await instance())
        server.stop()
        let stores = try [one, other].map { try #require($0.sharedStore) }
        try #require(await eventually { stores.allSatisfy { !$0.isUp } })
        #expect(try await one.thumbnail().statusTexts.contains { $0.hasPrefix("alula-shared") } == false)
        try server.restart()
        try #require(await eventually { stores.allSatisfy { $0.isUp } })
        _ = try await one.thumbnail(width: 11)
        await server.keys("alula:1:v:", 2)
        #expect(try await other.thumbnail(width: 11).statusTexts.contains("alula-shared hit"))
        #expect(other.origin.loads == 0)
    }

    @Test func `an ephemeral instance finds values of others, and writes nothing`() async throws {
        let (one, other) = (try await instance(), try await instance(isEphemeral: true))
        _ = try await one.thumbnail()
        try await settled(one)
        let before = server.keys
        #expect(try await other.thumbnail().statusTexts.contains("alula-shared hit"))
        _ = try await other.thumbnail(width: 11)
        #expect(server.keys == before)
    }

    @Test func `a lying server costs its hits, and no response is wrong`() async throws {
        let (one, other) = (try await instance(), try await instance())
        let first = try await one.thumbnail()
        try await settled(one)
        server.fail(.lying)
        let second = try await other.thumbnail()
        #expect(second.eTag == first.eTag && other.origin.loads == 1)
        #expect(other.metric("alula_shared_cache_requests_total{result=\"rejected\"}") >= 1)
    }

    @Test func `an incomplete image is not shared`() async throws {
        let one = try PipelineFixture(sharedCache: server.url) { $0.rules.limits.incompleteImages = .serve }
        let store = try #require(one.sharedStore)
        try #require(await eventually { store.isUp })
        one.origin.serve(SampleFiles.truncated, cacheControl: "max-age=100", eTag: "\"1\"")
        #expect(try await one.thumbnail().isIncomplete)
        try await settled(one)
        let other = try await instance()
        _ = try await other.thumbnail()
        #expect(other.origin.loads == 1)
    }

    @Test func `the metrics show the shared cache`() async throws {
        let one = try await instance()
        _ = try await one.thumbnail()
        try await settled(one)
        #expect(one.metric("alula_shared_cache_up") == 1)
        #expect(one.metric("alula_shared_cache_requests_total{result=\"miss\"}") == 2)
        #expect(one.metric("alula_shared_cache_queue_bytes") == 0)
        #expect(one.metric("alula_shared_cache_dropped_total") == 0)
        #expect(one.state(of: .sharedCache) == .up)
        #expect(try PipelineFixture().state(of: .sharedCache) == nil)
    }
}

extension Freshness {
    /// The freshness of the same response from a cache.
    fileprivate var fromCache: Freshness { Freshness(storability: storability, lifetime: lifetime, age: age ?? 0) }
}
