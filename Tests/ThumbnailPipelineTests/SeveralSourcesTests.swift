import Coordination
import Downloading
import HTTPTypes
import Imaging
import Memory
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Recipes
@testable import ThumbnailPipeline

/// Requests with an additional source.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct SeveralSourcesTests {
    private static let mark = ImageFixture.png.bytes

    /// A pipeline whose origin serves an image at `/a` and an additional source at `/mark`.
    private static func fixture(
        image: String? = "max-age=100", mark: String? = "max-age=100", memoryLimit: Int = .max,
        _ configure: (inout PipelineConfiguration) -> Void = { _ in }
    ) throws -> PipelineFixture {
        let fixture = try PipelineFixture(memoryLimit: memoryLimit, configure)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: image, eTag: "\"a\"")
        fixture.origin.serve(Self.mark, at: "/mark", cacheControl: mark, eTag: "\"mark\"")
        return fixture
    }

    private static func entries(_ fixture: PipelineFixture) -> [Int] {
        fixture.caches.statistics.map(\.statistics.usage.entries)
    }

    private static func flights(_ fixture: PipelineFixture, are count: Int) async throws {
        try #require(await eventually { fixture.downloader.fetches.count == count })
    }

    @Test func `both are fetched and decoded once, and the result is found again`() async throws {
        let fixture = try Self.fixture()
        #expect(fixture.pipeline.cachedThumbnail(for: .marked()) == nil)
        let made = try await fixture.thumbnail(of: .marked())
        #expect(
            made.statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss stored",
                "alula-source fwd=uri-miss stored",
            ])
        #expect(fixture.origin.loads == 2)
        #expect(Self.entries(fixture) == [2, 1, 2])
        #expect(fixture.pipeline.cachedThumbnail(for: .marked())?.eTag == made.eTag)
        #expect(try await fixture.thumbnail(of: .marked()).statusTexts == ["alula-result hit"])
        // Another size needs neither a transfer nor a decode.
        let other = try await fixture.thumbnail(of: .marked(width: 21))
        #expect(other.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        #expect(fixture.origin.loads == 2)
        #expect(fixture.decodes == 1 && fixture.metric("alula_decodes_total{format=\"png\"}") == 1)
    }

    @Test func `the same image without the second source is another result`() async throws {
        let fixture = try Self.fixture()
        _ = try await fixture.thumbnail(of: .marked())
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        _ = try await fixture.thumbnail()
        #expect(Self.entries(fixture) == [2, 2, 2])
        #expect(fixture.origin.loads == 2)
    }

    @Test func `concurrent requests share the transfers and decodes of both sources`() async throws {
        let fixture = try Self.fixture()
        fixture.origin.serve(SampleFiles.other, at: "/b", cacheControl: "max-age=100", eTag: "\"b\"")
        let gate = fixture.origin.hold()
        let callers = (1...10).map { number in
            Task {
                try await fixture.pipeline.thumbnail(
                    for: .marked(number.isMultiple(of: 2) ? "/a" : "/b"), directives: .none, receipt: "\(number)")
            }
        }
        try #require(
            await eventually {
                fixture.downloader.fetches.map(\.receipts.count).sorted() == [5, 5, 10]
            })
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(fixture.origin.loads == 3)
        #expect(fixture.renders == 2)
        #expect(fixture.decodes == 2 && fixture.metric("alula_decodes_total{format=\"png\"}") == 1)
    }

    @Test func `both are fetched concurrently under one receipt, which cancels both`() async throws {
        let fixture = try Self.fixture()
        let gate = fixture.origin.hold()
        let caller = Task { try await fixture.thumbnail(of: .marked()) }
        try await Self.flights(fixture, are: 2)
        #expect(fixture.downloader.fetches.map(\.receipts) == [["receipt"], ["receipt"]])
        #expect(fixture.control.cancel(receipt: "receipt"))
        await #expect(throws: DownloadError.receiptCanceled) { try await caller.value }
        try await Self.flights(fixture, are: 0)
        gate.open()
        await fixture.origin.cancellations(2)
    }

    @Test func `a caller that leaves releases both transfers`() async throws {
        let fixture = try Self.fixture()
        let gate = fixture.origin.hold()
        let caller = Task { try await fixture.thumbnail(of: .marked()) }
        try await Self.flights(fixture, are: 2)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await Self.flights(fixture, are: 0)
        gate.open()
        await fixture.origin.cancellations(2)
    }

    @Test(arguments: [true, false])
    func `the result is as fresh as the least fresh source, which alone is confirmed`(isMarkOlder: Bool) async throws {
        let fixture = try Self.fixture(
            image: isMarkOlder ? "max-age=100" : "max-age=10", mark: isMarkOlder ? "max-age=10" : "max-age=100")
        let made = try await fixture.thumbnail(of: .marked())
        #expect(made.freshness == Freshness(lifetime: 10, age: nil))
        fixture.time.clock.advance(by: .seconds(9))
        #expect(
            fixture.pipeline.cachedThumbnail(for: .marked())?.freshness == Freshness(lifetime: 10, age: 9))
        fixture.time.clock.advance(by: .seconds(1))
        #expect(fixture.pipeline.cachedThumbnail(for: .marked()) == nil)
        let confirmed = try await fixture.thumbnail(of: .marked())
        #expect(confirmed.statusTexts == ["alula-result hit", "alula-source fwd=stale 304 stored"])
        #expect(confirmed.eTag == made.eTag)
        #expect(fixture.origin.loads == 3 && fixture.origin.confirmations == 1)
        #expect(fixture.renders == 1)
    }

    @Test func `a stale source is served while only its origin is contacted in the background`() async throws {
        let fixture = try Self.fixture(mark: "max-age=10, stale-while-revalidate=30")
        _ = try await fixture.thumbnail(of: .marked())
        fixture.time.clock.advance(by: .seconds(10))
        #expect(
            try await fixture.thumbnail(of: .marked()).statusTexts == ["alula-result hit", "alula-source hit ttl=0"])
        let isFresh = await eventually { fixture.pipeline.cachedThumbnail(for: .marked()) != nil }
        #expect(isFresh)
        #expect(fixture.origin.loads == 3 && fixture.origin.confirmations == 1)
    }

    @Test func `another version of the second source makes another result and removes the old one`() async throws {
        let fixture = try Self.fixture(mark: "max-age=10")
        _ = try await fixture.thumbnail(of: .marked())
        fixture.origin.serve(ImageFixture.pngGrayRamp.bytes, at: "/mark", cacheControl: "max-age=10", eTag: "\"2\"")
        fixture.time.clock.advance(by: .seconds(10))
        let new = try await fixture.thumbnail(of: .marked())
        #expect(new.statusTexts.first == "alula-result fwd=uri-miss stored")
        #expect(fixture.renders == 2 && fixture.decodes == 1)
        #expect(Self.entries(fixture) == [2, 1, 2])
    }

    @Test func `a purge of the second source removes the result and leaves the image`() async throws {
        let fixture = try Self.fixture()
        let request = fixture.pipeline.resolved(.marked())
        _ = try await fixture.thumbnail(of: .marked())
        #expect(fixture.pipeline.cachedThumbnail(for: request) != nil)
        let cacheVersion = fixture.pipeline.cacheVersion
        let removed = try await fixture.control.remove(source: "http://example.com/mark")
        #expect(removed.entries == 3)
        #expect(fixture.pipeline.cacheVersion != cacheVersion)
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        #expect(Self.entries(fixture) == [1, 0, 1])
        _ = try await fixture.thumbnail(of: .marked())
        #expect(fixture.origin.loads == 3 && fixture.decodes == 1)
        // A purge of the image also removes the result.
        _ = try await fixture.control.remove(source: "http://example.com/a")
        #expect(Self.entries(fixture) == [1, 0, 1])
    }

    @Test func `an uncacheable second source makes the result uncacheable`() async throws {
        for (control, storability) in [("private", Freshness.Storability.private), ("no-store", .none)] {
            let fixture = try Self.fixture(mark: control)
            #expect(try await fixture.thumbnail(of: .marked()).freshness.storability == storability)
            #expect(fixture.pipeline.cachedThumbnail(for: .marked()) == nil)
            #expect(Self.entries(fixture) == [1, 0, 1])
            _ = try await fixture.thumbnail(of: .marked())
            #expect(fixture.origin.loads == 3)
        }
    }

    @Test func `no-store stores neither source`() async throws {
        let fixture = try Self.fixture()
        let made = try await fixture.pipeline.thumbnail(
            for: .marked(), directives: RequestCacheControl("no-store"), receipt: "")
        #expect(made.statusTexts.prefix(2) == ["alula-result fwd=request", "alula-decoded fwd=request"])
        #expect(Self.entries(fixture)[0...1] == [0, 0])
        #expect(fixture.origin.loads == 2)
    }

    @Test func `only-if-cached fails for the missing source`() async throws {
        let fixture = try Self.fixture()
        _ = try await fixture.thumbnail()
        let error = await #expect(throws: AdditionalSourceError.self) {
            try await fixture.pipeline.thumbnail(
                for: .marked(), directives: RequestCacheControl("only-if-cached"), receipt: "")
        }
        #expect(error?.code == "not_cached" && error?.parameter == "watermark")
        #expect(fixture.origin.loads == 1)
    }

    @Test(
        arguments: [
            ("http://example.com/missing", "source_not_found", .origin, 404),
            ("no url", "bad_url", .request, 400),
            ("ftp://example.com/mark", "source_not_allowed", .policy, 403),
            ("http://example.com/text", "not_an_image", .image, 415),
            ("http://example.com/cut", "cannot_decode", .image, 422),
        ] as [(String, String, ErrorCategory, Int)])
    func `a failing second source has its own failure, with its role as the parameter`(
        source: String, code: String, category: ErrorCategory, status: Int
    ) async throws {
        let fixture = try Self.fixture()
        fixture.origin.serve(SampleFiles.text, at: "/text", cacheControl: "max-age=100")
        fixture.origin.serve(SampleFiles.truncated, at: "/cut", cacheControl: "max-age=100")
        let request = Request.path("/a", mark: source)
        _ = try await fixture.thumbnail()
        var loads: [Int] = []
        for _ in 1...2 {
            let error = await #expect(throws: AdditionalSourceError.self) { try await fixture.thumbnail(of: request) }
            #expect(error?.role == .watermark && error?.parameter == "watermark")
            #expect(error?.code == code && error?.category == category && error?.status.code == status)
            loads.append(fixture.origin.loads)
        }
        // The failure is cached: the second request contacts no origin.
        #expect(loads[0] == loads[1])
    }

    @Test func `a failure of the image is not the watermark's, whose source stays cached`() async throws {
        let fixture = try Self.fixture()
        fixture.origin.serve(SampleFiles.truncated, cacheControl: "max-age=100", eTag: "\"cut\"")
        for _ in 1...2 {
            let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail(of: .marked()) }
            #expect(error?.code == "cannot_decode" && error?.parameter == nil)
        }
        #expect(fixture.origin.loads == 2)
        #expect(fixture.caches.storedRecord(for: try fixture.downloader.identity(of: "http://example.com/mark")) != nil)
    }

    @Test func `memory is reserved for the render and both decodes at once`() async throws {
        let fixture = try Self.fixture(memoryLimit: 64 << 20)
        _ = try await fixture.thumbnail(of: .marked())
        let key = try #require(fixture.pipeline.resolved(.marked()).key(in: fixture))
        let records = try #require(
            fixture.caches.freshRecords(for: try fixture.pipeline.resolved(.marked()).sources.get()))
        fixture.caches.memory.decoded.removeAll()
        fixture.caches.memory.results.removeAll()
        let hold = await fixture.holdWorkers()
        let caller = Task { try await fixture.thumbnail(of: .marked()) }
        try await fixture.workersWaitedFor(2)
        let decodes = zip(records, zip(key.decodeKeys, [SampleFiles.jpeg, Self.mark])).map { record, decode in
            record.header.cost(of: decode.0.plan, fileByteCount: decode.1.count)
        }
        #expect(fixture.budget.statistics.reserved == key.plan.cost + decodes.reduce(0, +))
        hold.release()
        _ = try await caller.value
        try #require(await eventually { fixture.budget.statistics.reserved == 0 })
        #expect(fixture.origin.loads == 2)
    }

    @Test func `only the bytes of an evicted source are fetched again`() async throws {
        let fixture = try Self.fixture { $0.sourceCacheMemory = 0 }
        _ = try await fixture.thumbnail(of: .marked())
        #expect(Self.entries(fixture) == [2, 1, 0])
        fixture.caches.memory.results.removeAll()
        let mark = try fixture.downloader.identity(of: "http://example.com/mark")
        fixture.caches.memory.decoded.removeAll(from: mark)
        let made = try await fixture.thumbnail(of: .marked())
        #expect(made.statusTexts.first == "alula-result fwd=uri-miss stored")
        #expect(fixture.origin.loads == 3 && fixture.decodes == 1)
    }

    @Test func `a step gets the pixels of the second source`() async throws {
        let fixture = try Self.fixture()
        let green = SharedBytes(ImageFixture.file(.plain(PixelSize(width: 4, height: 4), [0, 255, 0]), as: .png))
        fixture.origin.serve(green, at: "/mark", cacheControl: "max-age=100", eTag: "\"green\"")
        let request = Request.marked(format: .fixed(.png))
        _ = try await fixture.thumbnail(of: request)
        let recurring = fixture.pipeline.resolved(request)
        let sources = try recurring.sources.get()
        let records = try #require(fixture.caches.freshRecords(for: sources))
        let size = PixelSize(width: 8, height: 8)
        var plan = RenderPlan(
            source: FrameShape(size: ImageFixture.size, hasAlpha: false),
            steps: [ResampleStep(to: size), CoverStep()], format: .png, quality: 100)
        plan.additions = [DecodePlan()]
        let key = ResultKey(
            source: sources.main, validator: records.main.validator, additional: records.additional.map(\.version),
            plan: plan)
        let made = try await fixture.pipeline.renderer.result(
            RenderTask(
                key, from: records.mapValues { AvailableSource($0) }, for: Job(recurring, receipt: "receipt")))
        let image = try ImageReading.decode(try #require(made).image.bytes)
        #expect(image.pixel(x: 4, y: 4) == [0, 255, 0])
        #expect(image.pixel(x: 0, y: 0) != [0, 255, 0])
        #expect(fixture.origin.loads == 2)
    }
}

/// Fills all but one pixel with the color of the additional source's first pixel.
private struct CoverStep: VipsStep {
    let summary = "cover"
    func shape(after input: FrameShape) -> FrameShape { input }
    func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }
    func cost(of work: StepWork) -> StepCost { StepCost() }
    var keyText: String { "cover" }

    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let pixel = context.additions[0].pixel(x: 0, y: 0)
        let color = Color(red: pixel[0], green: pixel[1], blue: pixel[2])
        let size = PixelSize(width: 8, height: 8)
        let corner = try CropStep(x: 0, y: 0, size: PixelSize(width: 1, height: 1)).applied(to: image, in: &context)
        return try CanvasStep(size: size, x: 0, y: 0, color: color).applied(to: corner, in: &context)
    }
}

extension Request {
    /// A request for a path of the test host, with a watermark.
    fileprivate static func path(_ path: String, mark: String) -> Request {
        var request = Request.path(path)
        request.additional = [AdditionalSource(.watermark, source: ExactText(mark))]
        return request
    }

    /// A request for a path of the test host, with the watermark at `/mark`.
    static func marked(
        _ path: String = "/a", width: Int? = 20, format: FormatChoice = .negotiated([:])
    ) -> Request {
        var request = Request.path(path, width: width, format: format)
        request.additional = [AdditionalSource(.watermark, source: "http://example.com/mark")]
        return request
    }
}

extension ResolvedRequest {
    /// The key of the result if all sources are fresh.
    fileprivate func key(in fixture: PipelineFixture) -> ResultKey? {
        guard let sources = try? sources.get(), let records = fixture.caches.freshRecords(for: sources) else {
            return nil
        }
        return try? ResultKey(for: request, of: records, by: PipelineConfiguration())
    }
}
