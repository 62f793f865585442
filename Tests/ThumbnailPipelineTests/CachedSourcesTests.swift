import Coordination
import HTTPTypes
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailTypes

@testable import Downloading
@testable import ThumbnailPipeline

@Suite(.serialized, .timeLimit(.minutes(1)))
struct CachedSourcesTests {
    private let clock = ManualTimekeeper()
    private let caches: CacheLayers
    private var sources: CachedSources { CachedSources(caches) }

    init() { caches = CacheLayers(configuration: PipelineConfiguration(), timekeeper: clock) }

    private func identity(_ path: String) throws -> SourceIdentity {
        SourceIdentity(url: try SourceURL(parsing: "http://example.com" + path))
    }

    private func source(
        _ path: String = "/img", _ bytes: SharedBytes = SampleFiles.jpeg, version: String = "1",
        cacheControl: String? = nil
    ) throws -> ReceivedSource {
        var fields = HTTPFields()
        fields[.cacheControl] = cacheControl
        let now = HTTPDate(secondsSince1970: clock.secondsSince1970)
        return ReceivedSource(
            head: SourceHead(
                identity: try identity(path), validator: .entityTag("\"\(version)\""), headerFields: fields,
                requestedAt: now, receivedAt: now),
            bytes: bytes)
    }

    /// Stores a source, its pixels at two levels and pages, and a result.
    private func fill(_ source: ReceivedSource) throws {
        sources.store(source)
        let record = try record(source)
        let pixels = DecodedImage(
            pixels: SharedBytes([0, 0, 0, 0, 0, 0]), size: PixelSize(width: 2, height: 1), bands: 3)
        for plan in [DecodePlan(), DecodePlan(level: 2), DecodePlan(page: 1)] {
            let key = DecodeKey(source: source.identity, validator: source.validator, plan: plan)
            #expect(caches.storePixels(pixels, for: key, of: record))
        }
        #expect(caches.storeResult(result, for: try resultKey(source), of: PerSource(record)).contains(.result))
    }

    private func record(_ source: ReceivedSource) throws -> SourceRecord {
        try SourceRecord(source.head, bytes: source.bytes)
    }

    private let result = RenderedImage(
        EncodedImage(bytes: SharedBytes([1, 2, 3]), format: .jpeg, size: PixelSize(width: 2, height: 1)))

    private func resultKey(_ source: ReceivedSource, width: Int = 2) throws -> ResultKey {
        let plan = RenderPlan(resizedSize: PixelSize(width: width, height: 1), format: .jpeg, quality: 80)
        return ResultKey(source: source.identity, validator: source.validator, plan: plan)
    }

    private var entries: [Int] { caches.statistics.map(\.statistics.usage.entries) }

    @Test func `the caches are listed as decoded, result and source`() {
        #expect(caches.statistics.map(\.name) == ["decoded", "result", "source"])
    }

    @Test func `a stored source comes back with its record`() throws {
        let source = try source()
        #expect(sources.stored(for: source.identity) == nil)
        #expect(caches.freshRecord(for: source.identity) == nil)
        sources.store(source)
        #expect(sources.stored(for: source.identity)?.bytes === source.bytes)
        #expect(caches.freshRecord(for: source.identity)?.header.size == ImageFixture.size)
        #expect(caches.isStored(try record(source)))
    }

    @Test func `a stale source is known to be stale, and not forgotten`() throws {
        let source = try source(cacheControl: "max-age=10")
        try fill(source)
        clock.advance(by: .seconds(9))
        #expect(caches.freshRecord(for: source.identity) != nil)
        clock.advance(by: .seconds(1))
        #expect(caches.freshRecord(for: source.identity) == nil)
        #expect(caches.storedRecord(for: source.identity) != nil)
        #expect(sources.stored(for: source.identity)?.bytes === source.bytes)
        #expect(entries == [3, 1, 1])
    }

    @Test(arguments: ["private", "no-store"])
    func `a source with no-store is not stored, and removes the old one`(control: String) throws {
        let forbidden = try source(cacheControl: control)
        sources.store(forbidden)
        #expect(entries == [0, 0, 0])
        #expect(!caches.isCurrent(try record(forbidden)))
        try fill(try source())
        sources.store(forbidden)
        #expect(entries == [0, 0, 0])
        #expect(caches.freshRecord(for: forbidden.identity) == nil)
    }

    /// Bytes of all entries.
    private var usage: Int {
        caches.memory.decoded.memoryUsage + caches.memory.results.memoryUsage + caches.memory.sources.memoryUsage
    }

    @Test func `bytes that are not an image are not stored, and remove the old source`() throws {
        try fill(try source())
        let text = try source("/img", SampleFiles.text, version: "2")
        sources.store(text)
        #expect(entries == [0, 0, 0])
        #expect(sources.stored(for: text.identity) == nil)
    }

    @Test func `new bytes remove results made from the old ones`() throws {
        try fill(try source(version: "1"))
        let new = try source("/img", SampleFiles.other, version: "2")
        sources.store(new)
        #expect(entries == [0, 0, 1])
        #expect(sources.stored(for: new.identity)?.head.validator == new.validator)
    }

    @Test func `the same bytes leave results made from them`() throws {
        try fill(try source(cacheControl: "max-age=10"))
        clock.advance(by: .seconds(11))
        let again = try source(cacheControl: "max-age=10")
        sources.store(again)
        #expect(entries == [3, 1, 1])
        #expect(caches.freshRecord(for: again.identity) != nil)
    }

    @Test func `removing a source removes every level, page and result, and no other source`() throws {
        let image = try source("/img")
        let neighbors = [try source("/img2"), try source("/img?x=1"), try source("/im"), try source("/img/")]
        for source in [image] + neighbors { try fill(source) }
        let before = usage
        let removed = caches.forget(image.identity, cause: .changed)
        #expect(removed == RemovedEntries(entries: 5, bytes: before - usage))
        #expect(removed.bytes > 3 * 6 + result.cost + image.bytes.count)
        #expect(entries == [12, 4, 4])
        #expect(caches.freshRecord(for: image.identity) == nil)
        for neighbor in neighbors { #expect(sources.stored(for: neighbor.identity) != nil) }
        #expect(caches.forget(image.identity, cause: .changed) == RemovedEntries())
    }

    @Test func `one URL under two origin names is two sources`() throws {
        let plain = try source()
        let named = try SourceIdentity(url: plain.identity.url, rules: .shop())
        try fill(plain)
        #expect(sources.stored(for: named) == nil)
        #expect(caches.forget(named, cause: .changed) == RemovedEntries())
        #expect(entries == [3, 1, 1])
    }

    @Test func `emptying removes everything and returns the amount`() async throws {
        let sources = [try source("/a"), try source("/b")]
        for source in sources { try fill(source) }
        let before = usage
        #expect(await caches.purgeLocal(.everything) == RemovedEntries(entries: 10, bytes: before))
        #expect(usage == 0)
        #expect(entries == [0, 0, 0])
        #expect(caches.freshRecord(for: sources[0].identity) == nil)
        #expect(await caches.purgeLocal(.everything) == RemovedEntries())
    }

    @Test func `a result of a removed source is not stored`() throws {
        let source = try source()
        try fill(source)
        let record = try record(source)
        caches.forget(source.identity, cause: .changed)
        #expect(!caches.storeResult(result, for: try resultKey(source), of: PerSource(record)).contains(.result))
        #expect(entries == [0, 0, 0])
    }

    @Test func `a removal leaves nothing behind, even while results arrive`() async throws {
        let source = try source()
        let record = try record(source)
        let keys = try (1...200).map { try resultKey(source, width: $0) }
        for _ in 0..<300 {
            sources.store(source)
            let isRemoved = Locked(false)
            let keeping = Task.detached {
                while !isRemoved.withLock({ $0 }) {
                    for key in keys { _ = caches.storeResult(result, for: key, of: PerSource(record)) }
                    await Task.yield()
                }
            }
            while caches.memory.results.statistics.usage.entries == 0 { await Task.yield() }
            caches.forget(source.identity, cause: .changed)
            isRemoved.withLock { $0 = true }
            await keeping.value
            try #require(entries == [0, 0, 0])
        }
    }

    @Test func `bytes too large for the source cache are not stored, though their record is`() throws {
        var configuration = PipelineConfiguration()
        configuration.sourceCacheMemory = SampleFiles.jpeg.count - 1
        let caches = CacheLayers(configuration: configuration, timekeeper: clock)
        let sources = CachedSources(caches)
        let source = try source()
        sources.store(source)
        let record = try record(source)
        #expect(caches.isCurrent(record))
        #expect(!caches.isStored(record))
        #expect(try #require(sources.stored(for: source.identity)).bytes == nil)
    }

    @Test func `two transfers of one source that end at once never mix bytes and records`() async throws {
        let versions = [try source(version: "1"), try source("/img", SampleFiles.other, version: "2")]
        for _ in 0..<300 {
            await withTaskGroup { group in
                for source in versions { group.addTask { for _ in 0..<10 { sources.store(source) } } }
            }
            let record = try #require(caches.freshRecord(for: versions[0].identity))
            let stored = try #require(sources.stored(for: versions[0].identity))
            try #require(stored.head.validator == record.validator)
            let own = versions.first { $0.validator == record.validator }
            try #require(stored.bytes == nil || stored.bytes === own?.bytes)
        }
    }

    @Test func `lookups of a source's bytes count as hits and misses, stale ones as hits`() throws {
        let source = try source(cacheControl: "max-age=10")
        _ = sources.stored(for: source.identity)
        sources.store(source)
        _ = sources.stored(for: source.identity)
        clock.advance(by: .seconds(10))
        _ = sources.stored(for: source.identity)
        let statistics = try #require(caches.statistics.last).statistics
        #expect(statistics.hits == 2)
        #expect(statistics.misses == 1)
    }

    @Test func `a confirmation renews the record and leaves bytes, pixels and results`() throws {
        let source = try source(cacheControl: "max-age=10")
        try fill(source)
        clock.advance(by: .seconds(10))
        sources.refresh(try self.source(cacheControl: "max-age=10").head)
        #expect(caches.freshRecord(for: source.identity) != nil)
        #expect(sources.stored(for: source.identity)?.bytes === source.bytes)
        #expect(entries == [3, 1, 1])
    }

    @Test func `a confirmation of another version, or of a removed source, changes nothing`() throws {
        let source = try source(cacheControl: "max-age=10")
        try fill(source)
        clock.advance(by: .seconds(10))
        sources.refresh(try self.source(version: "2", cacheControl: "max-age=10").head)
        #expect(caches.freshRecord(for: source.identity) == nil)
        sources.remove(source.identity)
        sources.refresh(source.head)
        #expect(sources.stored(for: source.identity) == nil)
        #expect(entries == [0, 0, 0])
    }

    @Test func `a confirmation with no-store removes the source's results`() throws {
        let source = try source(cacheControl: "max-age=10")
        try fill(source)
        sources.refresh(try self.source(cacheControl: "no-store").head)
        #expect(entries == [0, 0, 0])
    }
}
