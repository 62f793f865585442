import Downloading
import HTTPTypes
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The effect of the client's `Cache-Control`.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineDirectivesTests {
    @Test(arguments: ["no-cache", "max-age=0"])
    func `no-cache reaches the origin, and the new image replaces the old`(control: String) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        let old = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=3600")
        #expect(try await fixture.thumbnail().eTag == old.eTag)
        let new = try await fixture.thumbnail(cacheControl: control)
        #expect(new.eTag != old.eTag)
        #expect(new.statusTexts.last == "alula-source fwd=request stored")
        #expect(try await fixture.thumbnail().eTag == new.eTag)
        #expect(fixture.origin.loads == 2)
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
    }

    @Test func `no-cache of an unchanged image costs a conditional request and no work`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600", eTag: "\"1\"")
        let first = try await fixture.thumbnail()
        let second = try await fixture.thumbnail(cacheControl: "no-cache")
        #expect(second.statusTexts == ["alula-result hit", "alula-source fwd=request 304 stored"])
        #expect(second.eTag == first.eTag)
        #expect(fixture.origin.confirmations == 1)
        #expect(fixture.renders == 1)
    }

    @Test func `no-cache joins no earlier fetch, and others join its own`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let ordinary = fixture.start(receipt: "1")
        try fixture.requireDownload(callers: 1)
        let reloads = ["2", "3"].map { receipt in
            Task.immediate { try await fixture.thumbnail(receipt: receipt, cacheControl: "no-cache") }
        }
        try #require(Set(fixture.downloader.fetches.flatMap(\.receipts)) == ["1", "2", "3"])
        #expect(fixture.downloader.fetches.count == 2)
        gate.open()
        for task in [ordinary] + reloads { _ = try await task.value }
        #expect(fixture.origin.loads == 2)
    }

    @Test func `only-if-cached on empty caches is 504 without a transfer`() async throws {
        let fixture = try PipelineFixture()
        let error = await #expect(throws: DownloadError.self) {
            try await fixture.thumbnail(cacheControl: "only-if-cached")
        }
        #expect(error == .notCached)
        #expect(error?.status == .gatewayTimeout)
        #expect(error?.code == "not_cached")
        #expect(fixture.origin.loads == 0)
    }

    @Test func `only-if-cached with only the source cached is served`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10")
        _ = try await fixture.thumbnail()
        fixture.caches.memory.decoded.removeAll()
        fixture.caches.memory.results.removeAll()
        let thumbnail = try await fixture.thumbnail(cacheControl: "only-if-cached")
        #expect(thumbnail.statusTexts.last == "alula-source hit")
        #expect(fixture.origin.loads == 1)
        fixture.time.clock.advance(by: .seconds(10))
        await #expect(throws: DownloadError.notCached) {
            try await fixture.thumbnail(cacheControl: "only-if-cached")
        }
        _ = try await fixture.thumbnail(cacheControl: "only-if-cached, max-stale=5")
        #expect(fixture.origin.loads == 1)
    }

    @Test func `no-store reads no cache and fills none`() async throws {
        let fixture = try PipelineFixture()
        let first = try await fixture.thumbnail(cacheControl: "no-store")
        #expect(
            first.statusTexts == [
                "alula-result fwd=request", "alula-decoded fwd=request", "alula-source fwd=request",
            ])
        #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        let stored = try await fixture.thumbnail()
        #expect(stored.eTag == first.eTag)
        fixture.origin.serve(SampleFiles.other)
        #expect(try await fixture.thumbnail(cacheControl: "no-store").eTag != first.eTag)
        #expect(try await fixture.thumbnail().eTag == first.eTag)
        #expect(fixture.origin.loads == 3)
    }

    @Test func `max-stale is served stale without contact, and is marked`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10")
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(15))
        let stale = try await fixture.thumbnail(cacheControl: "max-stale=5")
        #expect(stale.statusTexts == ["alula-result hit", "alula-source hit ttl=-5"])
        #expect(stale.freshness.age == 15)
        #expect(stale.freshness.lifetime == 10)
        let decoded = try await fixture.thumbnail(width: 30, cacheControl: "max-stale")
        #expect(decoded.statusTexts.prefix(2) == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        #expect(fixture.origin.loads == 1)
        _ = try await fixture.thumbnail(cacheControl: "max-stale=4")
        #expect(fixture.origin.loads == 2)
    }

    @Test func `a source that varies by anything is revalidated each time`() async throws {
        let fixture = try PipelineFixture()
        var answer = ScriptedOrigin.Answer(bytes: SampleFiles.jpeg)
        answer.fields = [.vary: "*", .cacheControl: "max-age=3600", .eTag: "\"1\""]
        fixture.origin.serve(answer, at: "/a")
        _ = try await fixture.thumbnail()
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 2)
        #expect(fixture.origin.confirmations == 1)
        #expect(fixture.decodes == 1)
    }

    @Test func `a caller's limits of age and freshness are respected`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=100")
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(50))
        _ = try await fixture.thumbnail(cacheControl: "max-age=50, min-fresh=50")
        #expect(fixture.origin.loads == 1)
        _ = try await fixture.thumbnail(cacheControl: "max-age=49")
        #expect(fixture.origin.loads == 2)
        _ = try await fixture.thumbnail(cacheControl: "min-fresh=101")
        #expect(fixture.origin.loads == 3)
    }
}
