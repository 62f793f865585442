import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The cache layer that serves a response, its report, and equal bytes from every layer.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineCachingTests {
    private static let cold = [
        "alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss stored", "alula-source fwd=uri-miss stored",
    ]

    @Test func `a cold response reports that it filled every layer, and the time of each step`() async throws {
        let fixture = try PipelineFixture()
        let thumbnail = try await fixture.thumbnail()
        #expect(thumbnail.statusTexts == Self.cold)
        #expect(
            thumbnail.timingNames == [
                "dns", "connect", "tls", "ttfb", "transfer", "source", "queue", "decode", "render", "encode",
            ])
        #expect(thumbnail.freshness == Freshness(storability: .shared, lifetime: nil, age: nil))
        #expect(thumbnail.image.format == .jpeg)
    }

    @Test func `a decoded image is not decoded again for its gain map`() async throws {
        let source = UltraHDRWriter.scene(PixelSize(width: 320, height: 240)).bytes
        func images(_ uses: [GainMapUse]) async throws -> (decodes: Int, last: RenderedImage) {
            let codec = WatchedCodec()
            let fixture = try PipelineFixture(codec: codec)
            fixture.origin.serve(source)
            var last: RenderedImage?
            for use in uses {
                var request = Request.path("/a", width: 100, format: .fixed(.jpeg))
                request.options.gainMap = use
                last = RenderedImage(try await fixture.thumbnail(of: request).image)
            }
            return (codec.work.withLock { $0.count }, try #require(last))
        }
        let (alone, after) = (try await images([.keep]), try await images([.drop, .keep]))
        // The image and its gain map are decoded once each.
        #expect(alone.decodes == 2 && after.decodes == 2)
        #expect(after.last.image.hasGainMap && after.last.eTag == alone.last.eTag)
    }

    @Test func `the transfer's timings are passed on`() async throws {
        let fixture = try PipelineFixture()
        var answer = ScriptedOrigin.Answer(bytes: SampleFiles.jpeg)
        answer.timings.dns = .milliseconds(1)
        answer.timings.connect = .milliseconds(2)
        answer.timings.tls = .milliseconds(3)
        answer.timings.firstByte = .milliseconds(4)
        answer.timings.total = .milliseconds(15)
        fixture.origin.serve(answer, at: "/a")
        let timings = try await fixture.thumbnail().timings
        #expect(
            Array(timings.prefix(5)) == [
                StepTiming("dns", duration: .milliseconds(1)), StepTiming("connect", duration: .milliseconds(2)),
                StepTiming("tls", duration: .milliseconds(3)), StepTiming("ttfb", duration: .milliseconds(4)),
                StepTiming("transfer", duration: .milliseconds(15)),
            ])
    }

    @Test func `the text of a data URL is made once, shared by its readers, and counted in its cache`() async throws {
        let fixture = try PipelineFixture()
        let request = Request(
            source: "http://example.com/a", recipe: TextRecipe(), isNegotiated: false)
        let first = try await fixture.pipeline.thumbnail(
            for: Job(fixture.pipeline.resolved(request), receipt: "1"))
        let second = try await fixture.pipeline.thumbnail(
            for: Job(fixture.pipeline.resolved(request), receipt: "2"))
        #expect(first.image.bytes === second.image.bytes && first.eTag == second.eTag)
        #expect(
            fixture.metric("alula_renders_total{format=\"png\"}") == 1 && second.statusTexts == ["alula-result hit"])
        let text = String(decoding: first.image.bytes.array, as: UTF8.self)
        #expect(text.hasPrefix("data:image/png;base64,iVBORw0KGgo"))
        #expect(fixture.caches.statistics.map(\.statistics.usage)[1].bytes >= first.image.bytes.count)
    }

    /// The whole image as the text of a `data:` URL.
    private struct TextRecipe: RenderRecipe {
        let keyText = "text"

        func draft(of source: RecipeSource) -> RenderDraft {
            var draft = RenderDraft(size: source.header.size, format: .png, quality: .fixed(100))
            draft.isDataURL = true
            return draft
        }
    }

    @Test func `a hot response comes from the result cache alone`() async throws {
        let fixture = try PipelineFixture()
        let first = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(7))
        let hot = try await fixture.thumbnail()
        #expect(hot.statusTexts == ["alula-result hit"])
        #expect(hot.timings.isEmpty)
        #expect(hot.freshness.age == 7)
        #expect(hot.image.bytes === first.image.bytes)
        #expect(hot.eTag == first.eTag)
        #expect(fixture.origin.loads == 1)
        #expect(fixture.renders == 1)
    }

    @Test func `a second size costs neither fetch nor decode`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail(width: 20)
        let second = try await fixture.thumbnail(width: 30)
        #expect(second.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        #expect(second.timingNames == ["queue", "render", "encode"])
        #expect(second.freshness.age == 0)
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 1)
    }

    @Test func `after the pixels are evicted the source cache serves, without a transfer`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail(width: 20)
        fixture.caches.memory.decoded.removeAll()
        let second = try await fixture.thumbnail(width: 30)
        #expect(
            second.statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss stored", "alula-source hit",
            ])
        #expect(second.timingNames == ["queue", "decode", "render", "encode"])
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 2)
    }

    @Test func `pixels suffice without the source's bytes`() async throws {
        let fixture = try PipelineFixture { $0.sourceCacheMemory = 0 }
        let first = try await fixture.thumbnail(width: 20)
        #expect(first.statusTexts.last == "alula-source fwd=uri-miss")
        let second = try await fixture.thumbnail(width: 30)
        #expect(second.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a thumbnail that no cache can hold is served and not reported as stored`() async throws {
        let fixture = try PipelineFixture { configuration in
            configuration.sourceCacheMemory = 0
            (configuration.decodedCacheCapacity, configuration.decodedCachePreferred) = (0, 0)
            (configuration.resultCacheCapacity, configuration.resultCachePreferred) = (0, 0)
        }
        for load in 1...2 {
            let thumbnail = try await fixture.thumbnail()
            #expect(
                thumbnail.statusTexts == [
                    "alula-result fwd=uri-miss", "alula-decoded fwd=uri-miss", "alula-source fwd=uri-miss",
                ])
            #expect(fixture.origin.loads == load)
        }
    }

    /// The contents of the caches when the request arrives.
    enum CacheState: String, CaseIterable, Sendable {
        case cold, sourceOnly, decodedOnly, resultOnly, all, afterRemoval, afterOtherSizes
    }

    @Test(
        arguments: CacheState.allCases,
        [(ImageFixture.jpeg, ImageFormat.jpeg), (.jpeg, .webp), (.pngHalfTransparent, .png), (.gifAnimated, .gif)])
    func `bytes and tag are the same in any cache state`(
        state: CacheState, files: (source: ImageFixture, result: ImageFormat)
    ) async throws {
        let bytes = files.source.bytes
        let format = FormatChoice.fixed(files.result)
        let reference = try PipelineFixture()
        reference.origin.serve(bytes)
        let expected = try await reference.thumbnail(width: 7, format: format)

        let fixture = try PipelineFixture { if state == .decodedOnly { $0.sourceCacheMemory = 0 } }
        fixture.origin.serve(bytes)
        if state == .afterOtherSizes {
            for width in [4, 8, 15, 16, 30, 64] { _ = try await fixture.thumbnail(width: width, format: format) }
        } else if state != .cold {
            _ = try await fixture.thumbnail(width: 7, format: format)
        }
        if state == .sourceOnly || state == .resultOnly { fixture.caches.memory.decoded.removeAll() }
        if state == .sourceOnly || state == .decodedOnly { fixture.caches.memory.results.removeAll() }
        if state == .afterRemoval { _ = try await fixture.control.remove(source: "http://example.com/a") }

        let thumbnail = try await fixture.thumbnail(width: 7, format: format)
        #expect(thumbnail.image.bytes.array == expected.image.bytes.array)
        #expect(thumbnail.eTag == expected.eTag)
        #expect(thumbnail.eTag.hasPrefix("\"") && thumbnail.eTag.hasSuffix("\""))
        #expect(fixture.origin.loads == (state == .afterRemoval ? 2 : 1))
    }

    @Test func `other bytes have another tag`() async throws {
        let fixture = try PipelineFixture()
        var tags: Set<String> = []
        for width in [10, 20, 30] { tags.insert(try await fixture.thumbnail(width: width).eTag) }
        tags.insert(try await fixture.thumbnail(format: .fixed(.png)).eTag)
        #expect(tags.count == 4)
    }

    @Test func `requests with the same result share one entry`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail(width: 20, format: .negotiated([:]))
        let named = try await fixture.thumbnail(width: 20, format: .fixed(.jpeg))
        #expect(named.statusTexts == ["alula-result hit"])
    }

    @Test func `two spellings of one URL are one source`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        var request = Request.path("/a")
        request.source = "HTTP://EXAMPLE.com:80/a#top"
        #expect(
            try await fixture.pipeline.thumbnail(for: request, directives: .none, receipt: "").statusTexts == [
                "alula-result hit"
            ])
    }

    @Test func `pixels evicted while they are rendered stay valid until done`() async throws {
        let reference = try await PipelineFixture().thumbnail(width: 30)
        let fixture = try PipelineFixture(workerCount: 1)
        _ = try await fixture.thumbnail(width: 20)
        let hold = await fixture.holdWorkers()
        let second = fixture.start(width: 30)
        try await fixture.workersWaitedFor(1)
        #expect(fixture.caches.memory.decoded.removeAll().entries == 1)
        hold.release()
        let thumbnail = try await second.value
        #expect(thumbnail.image.bytes.array == reference.image.bytes.array)
        #expect(thumbnail.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded hit"])
    }

    @Test func `pixels evicted between lookup and use are decoded again`() async throws {
        let fixture = try PipelineFixture { $0.sourceCacheMemory = 0 }
        _ = try await fixture.thumbnail(width: 20)
        // The render reads the clock next, after the request has found the pixels and skipped the source.
        fixture.time.atNextLook { fixture.caches.memory.decoded.removeAll() }
        let thumbnail = try await fixture.thumbnail(width: 30)
        #expect(thumbnail.image.size.width == 30)
        #expect(thumbnail.statusTexts == Self.cold.dropLast() + ["alula-source fwd=uri-miss"])
        #expect(fixture.origin.loads == 2)
        #expect(fixture.decodes == 2)
    }

    @Test func `pixels evicted between lookup and use are decoded from cached bytes`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail(width: 20)
        fixture.time.atNextLook { fixture.caches.memory.decoded.removeAll() }
        #expect(try await fixture.thumbnail(width: 30).image.size.width == 30)
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 2)
    }

    @Test func `a caller that has the source retries the lost render of callers without it`() async throws {
        let fixture = try PipelineFixture { $0.sourceCacheMemory = 0 }
        _ = try await fixture.thumbnail(width: 20)
        let key = try #require(fixture.key(30))
        fixture.caches.memory.decoded.removeAll()
        let transfers = fixture.origin.hold()
        let caller = fixture.start(width: 30)
        try fixture.requireDownload(callers: 1)
        let losing = Gate()
        let loser = Task {
            try await fixture.sharedRenders.value(for: key) {
                await losing.pass()
                throw PipelineError.missingBytes
            }
        }
        await losing.arrivals(1)
        transfers.open()
        try #require(await eventually { fixture.renderWaiters(width: 30) == 2 })
        losing.open()
        await #expect(throws: PipelineError.missingBytes) { _ = try await loser.value }
        #expect(try await caller.value.image.size.width == 30)
        #expect(fixture.origin.loads == 2)
    }
}
