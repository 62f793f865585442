import Coordination
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Cache lookups on event threads, rejections and placeholders.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineTests {
    @Test func `the quick lookup finds only fresh results`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10")
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        let thumbnail = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(4))
        let hit = try #require(fixture.pipeline.cachedThumbnail(for: .path()))
        #expect(hit.image.bytes === thumbnail.image.bytes)
        #expect(hit.statusTexts == ["alula-result hit"])
        #expect(hit.freshness == Freshness(storability: .shared, lifetime: 10, age: 4))
        #expect(fixture.pipeline.cachedThumbnail(for: .path(width: 30)) == nil)
        #expect(fixture.pipeline.cachedThumbnail(for: .path("/b")) == nil)
        fixture.time.clock.advance(by: .seconds(6))
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `the quick lookup responds while every worker is busy and the origin is silent`() async throws {
        let fixture = try PipelineFixture()
        let thumbnail = try await fixture.thumbnail()
        let hold = await fixture.holdWorkers()
        let gate = fixture.origin.hold()
        let waiting = fixture.start("/b")
        try fixture.requireDownload(callers: 1)
        #expect(fixture.pipeline.cachedThumbnail(for: .path())?.eTag == thumbnail.eTag)
        #expect(fixture.pipeline.cachedThumbnail(for: .path("/b")) == nil)
        #expect(try await fixture.thumbnail().statusTexts == ["alula-result hit"])
        hold.release()
        gate.open()
        await #expect(throws: DownloadError.notFound(404)) { try await waiting.value }
    }

    @Test(arguments: ["", "no url", "/a", "ftp://example.com/a", "http://user@example.com/a"])
    func `the quick lookup leaves invalid URLs to the task, which rejects them`(source: String) async throws {
        let fixture = try PipelineFixture()
        let request = Request(source: ExactText(source))
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        await #expect(throws: SourceURLError.self) {
            try await fixture.pipeline.thumbnail(for: request, directives: .none, receipt: "")
        }
        await #expect(throws: SourceURLError.self) { try await fixture.control.remove(source: ExactText(source)) }
        #expect(fixture.origin.loads == 0)
    }

    @Test func `a quick lookup without a result and the task after it count one miss together`() async throws {
        let fixture = try PipelineFixture()
        for _ in 1...2 where fixture.pipeline.cachedThumbnail(for: .path()) == nil {
            _ = try await fixture.thumbnail()
        }
        #expect(fixture.metric("alula_cache_requests_total{cache=\"result\",result=\"miss\"}") == 1)
        #expect(fixture.metric("alula_cache_requests_total{cache=\"result\",result=\"hit\"}") == 1)
        #expect(fixture.metric("alula_cache_requests_total{cache=\"decoded\",result=\"miss\"}") == 1)
        #expect(fixture.metric("alula_cache_requests_total{cache=\"source\",result=\"miss\"}") == 1)
    }

    @Test func `a page after the last is rejected, from the origin and from the cache alike`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.animation)
        var request = Request.path()
        request.options.page = ImageFixture.frames
        for _ in 1...2 {
            let error = await #expect(throws: ImagingError.self) {
                try await fixture.pipeline.thumbnail(for: request, directives: .none, receipt: "")
            }
            #expect(error == .noSuchPage(ImageFixture.frames, pages: ImageFixture.frames))
        }
        #expect(fixture.origin.loads == 1)
        request.options.page -= 1
        #expect(
            try await fixture.pipeline.thumbnail(for: request, directives: .none, receipt: "").image.size.width == 20)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `an error for an unaccepted source format names it`() async throws {
        let fixture = try PipelineFixture { $0.rules.limits.sourceFormats = [.png] }
        let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail() }
        #expect(error == .formatNotAccepted(.jpeg))
    }

    @Test func `a full queue of workers is an overload, and the source stays cached for the next try`() async throws {
        let fixture = try PipelineFixture(workerCount: 1, maximumQueued: 0)
        let hold = await fixture.holdWorkers()
        await #expect(throws: WorkerPool.Full.self) { try await fixture.thumbnail() }
        hold.release()
        await hold.ended()
        #expect(try await fixture.thumbnail().statusTexts.last == "alula-source hit")
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a decode that takes too long is a timeout, and the source stays cached`() async throws {
        let fixture = try PipelineFixture { $0.decodeTimeout = .nanoseconds(1) }
        await #expect(throws: DeadlineExceeded.self) { try await fixture.thumbnail() }
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [0, 0, 1])
    }

    @Test func `the decoding codec writes AVIF files as well, and its failures are returned`() async throws {
        let codec = WatchedCodec()
        let fixture = try PipelineFixture(codec: codec)
        let avif = try await fixture.thumbnail(format: .fixed(.avif))
        #expect(codec.encoded.withLock { $0 } == [PixelSize(width: 20, height: 15)])
        #expect(try ImageHeader.inspect(avif.image.bytes).format == .avif)
        _ = try await fixture.thumbnail(format: .fixed(.webp))
        #expect(codec.encoded.withLock { $0.count } == 1)
        let request = Request.path("/a", width: 30, format: .fixed(.avif))
        _ = try await fixture.pipeline.placeholder(for: request, color: .white)
        #expect(codec.encoded.withLock { $0.last } == PixelSize(width: 30, height: 30))
        codec.fault.withLock { $0 = DeadlineExceeded() }
        await #expect(throws: DeadlineExceeded.self) { try await fixture.thumbnail(width: 21, format: .fixed(.avif)) }
    }

    @Test func `a thumbnail removed during its render is served, but not stored`() async throws {
        let fixture = try PipelineFixture()
        let hold = await fixture.holdWorkers()
        let caller = fixture.start()
        try await fixture.workersWaitedFor(1)
        let removed = try await fixture.control.remove(source: "http://example.com/a")
        #expect(removed.entries == 1 && removed.bytes >= SampleFiles.jpeg.count)
        hold.release()
        #expect(
            try await caller.value.statusTexts == [
                "alula-result fwd=uri-miss", "alula-decoded fwd=uri-miss", "alula-source fwd=uri-miss stored",
            ])
        #expect(try await fixture.control.removeAll() == RemovedEntries())
    }

    @Test func `the caches' usage and metrics agree`() async throws {
        let fixture = try PipelineFixture()
        let thumbnail = try await fixture.thumbnail()
        let caches = fixture.control.statistics.caches
        let usage = caches.map { (name: $0.name, usage: $0.statistics.usage) }
        #expect(usage.map(\.name) == ["decoded", "result", "source"])
        #expect(usage.map(\.usage.entries) == [1, 1, 1])
        #expect(usage.map(\.usage.capacity) == [100 << 20, 64 << 20, 20 << 20])
        #expect(usage.map(\.usage.preferred) == [60 << 20, 48 << 20, 18 << 20])
        #expect(usage[0].usage.bytes >= 64 * 48 * 3)
        #expect(usage[1].usage.bytes >= thumbnail.image.bytes.count)
        #expect(usage[2].usage.bytes >= SampleFiles.jpeg.count)
        for (name, usage) in usage {
            #expect(fixture.metric("alula_cache_bytes{cache=\"\(name)\"}") == usage.bytes)
            #expect(fixture.metric("alula_cache_capacity_bytes{cache=\"\(name)\"}") == usage.capacity)
            #expect(fixture.metric("alula_cache_entries{cache=\"\(name)\"}") == usage.entries)
            #expect(fixture.metric("alula_cache_evicted_bytes_total{cache=\"\(name)\"}") == 0)
        }
    }

    @Test func `activity shows downloads and renders in progress`() async throws {
        let fixture = try PipelineFixture()
        #expect(
            fixture.activity == [0, 0, 0])
        let hold = await fixture.holdWorkers()
        let gate = fixture.origin.hold()
        let caller = fixture.start()
        try fixture.requireDownload(callers: 1)
        #expect(
            fixture.activity == [1, 0, 2])
        let download = try #require(fixture.control.downloads.first)
        #expect(download.source == "http://example.com/a")
        #expect(download.host == "example.com")
        #expect(download.isRunning)
        #expect(download.receipts == ["receipt"])
        #expect(fixture.metric("alula_downloads_active") == 1)
        gate.open()
        hold.release()
        _ = try await caller.value
        #expect(fixture.control.downloads.isEmpty)
        #expect(fixture.metric("alula_downloads_active") == 0)
    }

    @Test(arguments: [
        (FormatChoice.negotiated([:]), ImageFormat.png), (.negotiated([.webp: 1_000]), .webp), (.fixed(.jpeg), .jpeg),
        (.fixed(.gif), .gif),
    ])
    func `a placeholder has the box's size and the negotiated format, or PNG`(
        choice: FormatChoice, format: ImageFormat
    ) async throws {
        let fixture = try PipelineFixture()
        let color = Color(red: 255, green: 0, blue: 0)
        let image = try await fixture.pipeline.placeholder(for: .path(width: 12, format: choice), color: color)
        #expect(image.format == format)
        #expect(image.size == PixelSize(width: 12, height: 12))
        let pixels = try ImageReading.decode(image.bytes)
        #expect(pixels.size == image.size)
        let pixel = pixels.pixel(x: 6, y: 6)
        #expect(pixel[0] > 240 && pixel[1] < 15 && pixel[2] < 15)
        #expect(!pixels.hasAlpha || pixel[3] == 255)
        #expect(fixture.origin.loads == 0)
    }

    @Test func `a placeholder beyond the limits is rejected before it is made`() async throws {
        let fixture = try PipelineFixture { $0.rules.limits.maximumOutputPixels = 99 }
        let color = Color.white
        await #expect(throws: PipelineError.placeholderTooLarge) {
            try await fixture.pipeline.placeholder(for: .path(width: 10), color: color)
        }
        _ = try await fixture.pipeline.placeholder(for: .path(width: 9), color: color)
        var request = Request.path(width: 16_384, format: .fixed(.webp))
        request.options.height = 1
        let roomy = try PipelineFixture()
        await #expect(throws: PipelineError.placeholderTooLarge) {
            try await roomy.pipeline.placeholder(for: request, color: color)
        }
    }
}

extension PipelineFixture {
    /// Running and queued downloads, and running work.
    fileprivate var activity: [Int] {
        let statistics = control.statistics
        return [statistics.activeDownloads, statistics.queuedDownloads, statistics.activeRenders]
    }
}
