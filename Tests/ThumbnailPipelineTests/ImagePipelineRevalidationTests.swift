import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Stale sources: revalidated, served during revalidation, served instead of an error.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineRevalidationTests {
    private static func fixture(
        _ control: String, allowances: StaleAllowances = StaleAllowances(),
        _ configure: (inout PipelineConfiguration) -> Void = { _ in }
    ) async throws -> PipelineFixture {
        let fixture = try PipelineFixture(staleAllowances: allowances, configure)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: control, eTag: "\"1\"")
        _ = try await fixture.thumbnail()
        return fixture
    }

    @Test func `while fresh, a source is decoded again without a transfer`() async throws {
        let fixture = try await Self.fixture("max-age=3600")
        fixture.caches.memory.decoded.removeAll()
        fixture.caches.memory.results.removeAll()
        fixture.time.clock.advance(by: .seconds(3_599))
        let thumbnail = try await fixture.thumbnail()
        #expect(thumbnail.statusTexts.last == "alula-source hit")
        #expect(thumbnail.freshness.age == 3_599)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a 304 leaves result, pixels and bytes, and nothing is decoded or rendered`() async throws {
        let fixture = try await Self.fixture("max-age=10")
        for round in 1...3 {
            fixture.time.clock.advance(by: .seconds(10))
            let thumbnail = try await fixture.thumbnail()
            #expect(thumbnail.statusTexts == ["alula-result hit", "alula-source fwd=stale 304 stored"])
            #expect(thumbnail.freshness.age == nil)
            #expect(fixture.origin.confirmations == round)
            #expect(fixture.pipeline.cachedThumbnail(for: .path()) != nil)
        }
        #expect(fixture.decodes == 1)
        #expect(fixture.renders == 1)
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
    }

    @Test func `one conditional request serves all waiting requests`() async throws {
        let fixture = try await Self.fixture("max-age=10")
        fixture.time.clock.advance(by: .seconds(10))
        let gate = fixture.origin.hold()
        let callers = (1...10).map { fixture.start(width: 20 + $0, receipt: "\($0)") }
        try fixture.requireDownload(callers: 10)
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(fixture.origin.loads == 2)
        #expect(fixture.origin.confirmations == 1)
        #expect(fixture.decodes == 1)
    }

    @Test func `a 304 needs no bytes while results of them exist`() async throws {
        let fixture = try await Self.fixture("max-age=10") { $0.sourceCacheMemory = SampleFiles.jpeg.count - 1 }
        fixture.time.clock.advance(by: .seconds(10))
        let hit = try await fixture.thumbnail()
        #expect(hit.statusTexts == ["alula-result hit", "alula-source fwd=stale 304"])
        let rendered = try await fixture.thumbnail(width: 30)
        #expect(rendered.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        #expect(fixture.origin.loads == 2)
        // After the eviction of all entries, the bytes are fetched again.
        fixture.caches.memory.decoded.removeAll()
        fixture.caches.memory.results.removeAll()
        fixture.time.clock.advance(by: .seconds(10))
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 3)
        #expect(fixture.origin.confirmations == 1)
        #expect(fixture.decodes == 2)
    }

    @Test func `a result evicted during a revalidation is made from newly fetched bytes`() async throws {
        let fixture = try await Self.fixture("max-age=10") { $0.sourceCacheMemory = SampleFiles.jpeg.count - 1 }
        fixture.time.clock.advance(by: .seconds(10))
        let gate = fixture.origin.hold()
        let caller = fixture.start()
        try fixture.requireDownload(callers: 1)
        fixture.caches.memory.decoded.removeAll()
        fixture.caches.memory.results.removeAll()
        gate.open()
        #expect(try await caller.value.image.size.width == 20)
        #expect(fixture.origin.confirmations == 1)
        #expect(fixture.origin.loads == 3)
    }

    @Test func `a 200 removes all results of the old source`() async throws {
        let fixture = try await Self.fixture("max-age=10")
        _ = try await fixture.thumbnail(width: 4)
        fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=10", eTag: "\"2\"")
        fixture.time.clock.advance(by: .seconds(10))
        let new = try await fixture.thumbnail()
        #expect(new.statusTexts.last == "alula-source fwd=stale stored")
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
    }

    @Test(arguments: [true, false])
    func `a stale copy is served at once, with one validation for any number of requests`(
        isBySetting: Bool
    ) async throws {
        var allowances = StaleAllowances()
        allowances.whileRevalidating = isBySetting ? 30 : 0
        let fixture = try await Self.fixture(
            isBySetting ? "max-age=10" : "max-age=10, stale-while-revalidate=30", allowances: allowances)
        fixture.time.clock.advance(by: .seconds(10))
        let gate = fixture.origin.hold()
        for _ in 1...10 {
            let stale = try await fixture.thumbnail()
            #expect(stale.statusTexts == ["alula-result hit", "alula-source hit ttl=0"])
        }
        let other = try await fixture.thumbnail(width: 31)
        #expect(other.statusTexts.prefix(2) == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        await gate.arrivals(1)
        gate.open()
        await fixture.downloadEnds.reached(2)
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) != nil)
        #expect(fixture.origin.loads == 2)
        #expect(fixture.origin.confirmations == 1)
        // After the window, the origin must be contacted first.
        fixture.time.clock.advance(by: .seconds(40))
        #expect(try await fixture.thumbnail().statusTexts.last == "alula-source fwd=stale 304 stored")
    }

    @Test func `only-if-cached serves a stale copy without a validation in the background`() async throws {
        let fixture = try await Self.fixture("max-age=10, stale-while-revalidate=30")
        fixture.time.clock.advance(by: .seconds(10))
        let stale = try await fixture.thumbnail(cacheControl: "only-if-cached")
        #expect(stale.statusTexts.first == "alula-result hit")
        #expect(fixture.control.downloads.isEmpty)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a new image found in the background is served from then on`() async throws {
        let fixture = try await Self.fixture("max-age=10, stale-while-revalidate=30")
        let old = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=10", eTag: "\"2\"")
        fixture.time.clock.advance(by: .seconds(10))
        #expect(try await fixture.thumbnail().eTag == old.eTag)
        await fixture.downloadEnds.reached(2)
        #expect(fixture.key(20)?.validator == .entityTag("\"2\""))
        #expect(try await fixture.thumbnail().eTag != old.eTag)
        #expect(fixture.origin.loads == 2)
    }

    @Test(
        arguments: [
            (.unreachable("refused"), nil), (.timedOut, nil), (.status(503), 503), (.status(500), 500),
            (.status(429), 429),
            (.status(403), 403), (.protocolError("cut"), nil), (.tls("expired"), nil),
        ] as [(DownloadError, Int?)])
    func `a stale copy is served instead of an error while the origin is down`(
        error: DownloadError, status: Int?
    ) async throws {
        let fixture = try await Self.fixture("max-age=10")
        fixture.time.clock.advance(by: .seconds(10))
        fixture.origin.fail(with: error)
        let text = "alula-source fwd=stale" + (status.map { " \($0)" } ?? "")
        let stale = try await fixture.thumbnail()
        #expect(stale.statusTexts == ["alula-result hit", text])
        #expect(stale.freshness.age == 10)
        #expect(fixture.origin.loads == 2)
        // 36: the failure is cached but never replaces the stale copy.
        fixture.time.clock.advance(by: .seconds(1))
        let again = try await fixture.thumbnail(width: 30)
        #expect(again.statusTexts.last == "alula-source hit ttl=-1")
        #expect(fixture.origin.loads == 2)
        fixture.time.clock.advance(by: .seconds(4))
        fixture.origin.fail(with: nil)
        #expect(try await fixture.thumbnail().statusTexts.last == "alula-source fwd=stale 304 stored")
    }

    @Test func `a stale copy is not served past its window, or against the directives of source or caller`()
        async throws
    {
        for (control, request, seconds) in [
            ("max-age=10, stale-if-error=5", nil, 15), ("max-age=10, must-revalidate", nil, 10),
            ("s-maxage=10", nil, 10), ("no-cache", nil, 1), ("max-age=10", "no-cache", 1),
            ("max-age=10", nil, 86_410),
        ] as [(String, String?, Int)] {
            let fixture = try await Self.fixture(control)
            fixture.time.clock.advance(by: .seconds(seconds))
            fixture.origin.fail(with: .status(503))
            await #expect(throws: DownloadError.status(503), "\(control)") {
                try await fixture.thumbnail(cacheControl: request)
            }
        }
    }

    @Test(arguments: [404, 410])
    func `a missing source is removed, with all its results`(status: Int) async throws {
        let fixture = try await Self.fixture("max-age=10")
        fixture.time.clock.advance(by: .seconds(10))
        fixture.origin.fail(with: .notFound(status))
        await #expect(throws: DownloadError.notFound(status)) { try await fixture.thumbnail() }
        #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
    }

    @Test func `a missing source is remembered for a minute; no-cache and a purge retry`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.fail(with: .notFound(404))
        for _ in 1...3 {
            await #expect(throws: DownloadError.notFound(404)) { try await fixture.thumbnail() }
            fixture.time.clock.advance(by: .seconds(19))
        }
        #expect(fixture.origin.loads == 1)
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.thumbnail(cacheControl: "no-cache") }
        #expect(fixture.origin.loads == 2)
        fixture.origin.fail(with: nil)
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.thumbnail() }
        #expect(try await fixture.control.remove(source: "http://example.com/a") == RemovedEntries())
        #expect(try await fixture.thumbnail().image.size.width == 20)
        #expect(fixture.origin.loads == 3)
    }

    @Test func `a successful reload, or emptying the caches, forgets a failure`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.fail(with: .notFound(404))
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.thumbnail() }
        _ = try await fixture.control.removeAll()
        await #expect(throws: DownloadError.notFound(404)) { try await fixture.thumbnail() }
        #expect(fixture.origin.loads == 2)
        fixture.origin.fail(with: nil)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-store")
        _ = try await fixture.thumbnail(cacheControl: "no-cache")
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 4)
    }

    @Test func `a cancellation is not remembered`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let caller = fixture.start()
        try fixture.requireDownload(callers: 1)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        #expect(try await fixture.thumbnail().image.size.width == 20)
    }
}
