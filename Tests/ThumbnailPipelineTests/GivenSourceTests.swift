import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import TestSupport
import Testing
import Text

@testable import ThumbnailPipeline

/// Images that a caller has in hand while many results are made from them.
@Suite struct GivenSourceTests {
    private static func request(_ width: Int) -> ThumbnailRequest {
        var request = ThumbnailRequest(source: "upload", format: .fixed(.png))
        request.options.width = width
        return request
    }

    @Test func `an upload is decoded once for all results, and again for none that knows the same file`() async throws {
        let fixture = try PipelineFixture()
        let first = try await fixture.pipeline.opened(upload: SampleFiles.jpeg)
        for width in [64, 60, 50] {
            let made = try await fixture.pipeline.thumbnail(of: first, for: Self.request(width), receipt: "r")
            #expect(made.image.size.width == width)
        }
        #expect(fixture.decodes == 1 && fixture.origin.loads == 0)
        let second = try await fixture.pipeline.opened(upload: SharedBytes(SampleFiles.jpeg.array))
        let again = try await fixture.pipeline.thumbnail(of: second, for: Self.request(64), receipt: "r")
        #expect(again.cacheStatus.first == CacheLayerStatus(.result, .hit) && fixture.decodes == 1)
        _ = try await fixture.pipeline.thumbnail(of: second, for: Self.request(55), receipt: "r")
        #expect(fixture.decodes == 1)
    }

    @Test func `the entity tag is that of the same file fetched by URL`() async throws {
        let fixture = try PipelineFixture()
        let given = try await fixture.pipeline.opened(upload: SampleFiles.jpeg)
        let uploaded = try await fixture.pipeline.thumbnail(of: given, for: Self.request(40), receipt: "r")
        let fetched = try await fixture.thumbnail(width: 40, format: .fixed(.png))
        #expect(uploaded.eTag == fetched.eTag && uploaded.image.bytes.array == fetched.image.bytes.array)
    }

    @Test func `nothing of an upload reaches the disk`() async throws {
        let folder = TemporaryFolder()
        let fixture = try PipelineFixture(diskFolder: folder.path)
        let given = try await fixture.pipeline.opened(upload: SampleFiles.jpeg)
        _ = try await fixture.pipeline.thumbnail(of: given, for: Self.request(40), receipt: "r")
        await fixture.store?.close(timeLimit: .seconds(20))
        #expect(fixture.store?.statistics.shares.values.allSatisfy { $0.entries == 0 } == true)
    }

    @Test(arguments: ["given://x/", "given://0123456789abcdef/"])
    func `no client can name an image that was given`(url: String) throws {
        #expect(throws: SourceURLError.self) { try PipelineFixture().downloader.identity(of: ExactText(url)) }
    }

    @Test func `a source is fetched once, and what may be stored is kept under its own name`() async throws {
        let fixture = try PipelineFixture()
        let given = try await fixture.pipeline.opened(
            fixture.pipeline.resolved(.path()), directives: .none, receipt: "r")
        for width in [64, 60] {
            _ = try await fixture.pipeline.thumbnail(of: given, for: Self.request(width), receipt: "r")
        }
        fixture.pipeline.close(given)
        #expect(fixture.origin.loads == 1 && fixture.decodes == 1)
        let later = try await fixture.thumbnail(width: 60, format: .fixed(.png))
        #expect(later.cacheStatus == [CacheLayerStatus(.result, .hit)])
    }

    @Test func `a source of which nothing may be stored is fetched and decoded once, and nothing stays`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-store")
        let given = try await fixture.pipeline.opened(
            fixture.pipeline.resolved(.path()), directives: .none, receipt: "r")
        for width in [64, 60, 50] {
            _ = try await fixture.pipeline.thumbnail(of: given, for: Self.request(width), receipt: "r")
        }
        #expect(fixture.origin.loads == 1 && fixture.decodes == 1)
        fixture.pipeline.close(given)
        #expect(fixture.caches.figures.allSatisfy { $0.figures.usage.entries == 0 })
    }

    @Test func `facts and failures are those of the file`() async throws {
        let fixture = try PipelineFixture()
        let given = try await fixture.pipeline.opened(upload: SampleFiles.jpeg)
        var asked = FactsRequest()
        asked.features = [.blurHash]
        let facts = try await fixture.pipeline.facts(of: given, asked: asked, receipt: "r")
        #expect(facts.byteCount == SampleFiles.jpeg.count && facts.portrait?.blurHash?.utf8.count == 28)
        await #expect(throws: ImagingError.notAnImage) { try await fixture.pipeline.opened(upload: SampleFiles.text) }
        let cut = try await fixture.pipeline.opened(upload: SampleFiles.truncated)
        await #expect(throws: ImagingError.self) {
            try await fixture.pipeline.thumbnail(of: cut, for: Self.request(20), receipt: "r")
        }
    }
}
