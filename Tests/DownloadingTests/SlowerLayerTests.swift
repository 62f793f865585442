import Coordination
import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Callers of a memory cache with a slower layer below it, and an origin.
@Suite(.timeLimit(.minutes(1)))
struct SlowerLayerTests {
    private let clock = ManualTimekeeper()
    private let loader = StubLoader(isHolding: false)
    /// Counts transfers that have ended and released their slots.
    private let ends = EventCounter()

    @Test func `a copy from a slower layer needs no transfer or slot, and is in memory from then on`() async throws {
        let cache = LayeredCache(source("/a"))
        let downloader = downloader(cache) { $0.maximumActiveDownloads = 1 }
        let tasks = (0..<10).map { downloader.begin("/a", receipt: "\($0)") }
        await cache.gate.arrivals(1)
        #expect(downloader.activeRequestCount == 0)
        #expect(downloader.fetches.map(\.receipts.count) == [10])
        cache.gate.open()
        for task in tasks {
            let copy = try await task.value
            #expect(copy.text == "/a")
            #expect(copy.participation == .cached)
            #expect(copy.exchange == nil)
        }
        #expect(cache.retrievals == 1)
        #expect(try await downloader.begin("/a").value.text == "/a")
        #expect(cache.retrievals == 1)
        #expect(loader.started.isEmpty)
        #expect(downloader.fetches.isEmpty)
    }

    @Test func `a source that the slower layer lacks is fetched, with a slot and a place in the queue`() async throws {
        let cache = LayeredCache(nil)
        cache.gate.open()
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader) { $0.maximumActiveDownloads = 1 }
        let tasks = (0..<3).map { downloader.begin("/\($0)") }
        await loader.starts(1)
        let isQueued = await eventually { downloader.queuedRequestCount == 2 }
        #expect(isQueued)
        #expect(downloader.activeRequestCount == 1)
        loader.releaseAll()
        for task in tasks { #expect(try await task.value.participation == .started) }
        #expect(loader.highestParallelism == 1)
    }

    @Test func `a full queue rejects callers after a miss in the slower layer`() async throws {
        let cache = LayeredCache(nil)
        cache.gate.open()
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader) {
            $0.maximumActiveDownloads = 1
            $0.maximumQueuedDownloads = 0
        }
        let first = downloader.begin("/0")
        await loader.starts(1)
        await #expect(throws: DownloadError.queueFull) { try await downloader.begin("/1").value }
        loader.releaseAll()
        _ = try await first.value
    }

    @Test func `a caller that leaves during the slower layer's lookup leaves nothing behind`() async throws {
        let cache = LayeredCache(nil)
        let downloader = downloader(cache)
        let task = downloader.begin("/a")
        await cache.gate.arrivals(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(downloader.fetches.isEmpty)
        cache.gate.open()
        let next = try await downloader.begin("/a").value
        #expect(next.participation == .started)
        #expect(loader.started == ["/a"])
    }

    @Test func `a caller that leaves ends the transfer that followed its lookup`() async throws {
        let cache = LayeredCache(nil)
        cache.gate.open()
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader)
        for number in 1...500 {
            let task = downloader.begin("/\(number)")
            await loader.starts(number)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.cancellations(number)
        }
    }

    @Test func `only-if-cached may query the slower layer, and nothing else`() async throws {
        var directives = RequestCacheControl.none
        directives.onlyIfCached = true
        let request = SourceRequest(identity: .path("/a"), directives: directives)
        let empty = LayeredCache(nil)
        empty.gate.open()
        await #expect(throws: DownloadError.notCached) {
            try await downloader(empty).download(request, receipt: "")
        }
        let full = LayeredCache(source("/a"))
        full.gate.open()
        #expect(try await downloader(full).download(request, receipt: "").text == "/a")
        #expect(loader.started.isEmpty)
    }

    @Test func `a stale copy in the slower layer is served while the origin is down`() async throws {
        let cache = LayeredCache(source("/a"))
        cache.gate.open()
        clock.advance(by: .seconds(3_600))
        loader.fail(with: .status(503))
        let copy = try await downloader(cache).begin("/a").value
        #expect(copy.text == "/a")
        #expect(copy.exchange?.status == 503)
        #expect(copy.exchange?.hasFailed == true)
        #expect(loader.started == ["/a"])
    }

    @Test func `a copy in the slower layer is not used for other request fields`() async throws {
        let cache = LayeredCache(source("/a", selecting: [.accept: "image/other"]))
        cache.gate.open()
        let copy = try await downloader(cache).begin("/a").value
        #expect(copy.participation == .started)
        #expect(copy.exchange?.reason == .otherVariant)
    }

    @Test func `a copy is checked for each caller: one takes it stale, the others wait for its origin`()
        async throws
    {
        let cache = LayeredCache(source("/a"))
        clock.advance(by: .seconds(4_000))
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader)
        let tolerant = ["max-stale=1000", "max-stale"].map { downloader.begin("/a", cacheControl: $0) }
        let strict = [nil, "max-age=100", "min-fresh=1"].map { downloader.begin("/a", cacheControl: $0) }
        #expect(downloader.fetches.map(\.receipts.count) == [5])
        cache.gate.open()
        for task in tolerant {
            let copy = try await task.value
            #expect(copy.participation == .cached && copy.exchange == nil)
        }
        await loader.starts(1)
        #expect(downloader.fetches.map(\.receipts.count) == [3])
        loader.releaseAll()
        for task in strict { #expect(try await task.value.exchange?.reason == .stale) }
        #expect(loader.started == ["/a"])
    }

    @Test func `callers that a copy in a slower layer satisfies do not wait for an earlier reload`() async throws {
        let cache = LayeredCache(source("/a"))
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader)
        let reload = downloader.begin("/a", cacheControl: "no-cache")
        let ordinary = downloader.begin("/a")
        cache.gate.open()
        #expect(try await ordinary.value.participation == .cached)
        await loader.starts(1)
        loader.releaseAll()
        #expect(try await reload.value.exchange?.reason == .requested)
    }

    @Test func `one copy is found, one validation runs in the background, and no caller waits`() async throws {
        let cache = LayeredCache(source("/a", control: "max-age=3600, stale-while-revalidate=60"))
        clock.advance(by: .seconds(3_610))
        let loader = StubLoader()
        let downloader = downloader(cache, loader: loader)
        let tasks = (0..<5).map { _ in downloader.begin("/a") }
        cache.gate.open()
        for task in tasks { #expect(try await task.value.participation == .cached) }
        await loader.starts(1)
        #expect(cache.retrievals == 1)
        loader.releaseAll()
        await ends.reached(1)
        #expect(downloader.fetches.isEmpty)
        #expect(loader.started == ["/a"])
    }

    private func source(
        _ path: String, control: String = "max-age=3600", selecting: HTTPFields = [:]
    ) -> ReceivedSource {
        let now = HTTPDate(secondsSince1970: clock.secondsSince1970)
        return ReceivedSource(
            head: SourceHead(
                identity: .path(path), validator: .digest(path), headerFields: [.cacheControl: control],
                selectingFields: selecting, requestedAt: now, receivedAt: now),
            bytes: SharedBytes(Array(path.utf8)))
    }

    private func downloader(
        _ cache: LayeredCache, loader: StubLoader? = nil, _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> ImageDownloader {
        var configuration = DownloadConfiguration()
        change(&configuration)
        return ImageDownloader(
            rules: DownloadRules(configuration), loader: loader ?? self.loader, cache: cache, timekeeper: clock,
            observer: DownloadObserver(onFinish: { [ends] _ in ends.increment() }))
    }
}

/// A memory cache above a layer that replies once its gate is open.
private final class LayeredCache: SourceCaching {
    let gate = Gate()
    private let below: ReceivedSource?
    private let memory = StubCache(keeps: true)
    private let count = Locked(0)

    init(_ below: ReceivedSource?) { self.below = below }

    var hasLayerBelowMemory: Bool { true }
    /// Number of queries to the slower layer.
    var retrievals: Int { count.withLock { $0 } }

    func retrieve(_ identity: SourceIdentity) async -> SourceCopy? {
        count.withLock { $0 += 1 }
        await gate.pass()
        guard let below, below.identity == identity else { return nil }
        memory.store(below)
        return SourceCopy(head: below.head, bytes: below.bytes)
    }

    func stored(for identity: SourceIdentity) -> SourceCopy? { memory.stored(for: identity) }
    func store(_ source: ReceivedSource) { memory.store(source) }
    func refresh(_ head: SourceHead) { memory.refresh(head) }
    func remove(_ identity: SourceIdentity) { memory.remove(identity) }
}
