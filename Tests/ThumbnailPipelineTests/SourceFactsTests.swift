import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

@Suite struct SourceFactsTests {
    private func facts(
        _ fixture: PipelineFixture, _ features: Set<ImageAppearance.Feature> = [], cacheControl: String? = nil
    ) async throws -> SourceFacts {
        var asked = FactsRequest()
        asked.features = features
        let call = Job(
            fixture.pipeline.resolved(.path()), directives: RequestCacheControl(cacheControl), receipt: "receipt")
        return try await fixture.pipeline.facts(asked, for: call)
    }

    @Test func `the header is parsed and nothing is decoded`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60", eTag: "\"one\"")
        let facts = try await facts(fixture)
        #expect(facts.header.size == ImageFixture.size && facts.byteCount == SampleFiles.jpeg.count)
        #expect(facts.eTag == "\"one\"" && facts.lastModified == nil && facts.appearance == nil)
        #expect(facts.cacheStatus.map(\.outcome) == [.uriMiss] && facts.freshness.lifetime == 60)
        #expect(fixture.decodes == 0 && fixture.origin.loads == 1)
        let again = try await self.facts(fixture)
        #expect(again.cacheStatus.map(\.outcome) == [.hit] && again.freshness.age == 0)
        #expect(fixture.origin.loads == 1 && again.byteCount == facts.byteCount)
    }

    @Test(arguments: [[ImageAppearance.Feature.preview], [.preview, .color]])
    func `a preview is a WebP image of at most 174 bytes`(_ features: Set<ImageAppearance.Feature>) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60", eTag: "\"one\"")
        for _ in 0..<2 {
            let facts = try await facts(fixture, features)
            let preview = try #require(facts.preview)
            let header = try ImageHeader.inspect(preview)
            #expect(preview.count <= FactsRequest.maximumPreviewBytes && header.format == .webp)
            #expect([4, 8, 12, 16].contains(max(header.size.width, header.size.height)))
            #expect((facts.appearance == nil) == (features == [.preview]))
        }
        #expect(fixture.origin.loads == 1)
        #expect(try await facts(fixture, [.color]).preview == nil)
    }

    @Test func `a stale source is confirmed, and its bytes are not fetched again`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60", eTag: "\"one\"")
        _ = try await facts(fixture)
        fixture.time.clock.advance(by: .seconds(61))
        let facts = try await facts(fixture)
        #expect(facts.cacheStatus.map(\.outcome) == [.stale] && facts.byteCount == SampleFiles.jpeg.count)
        #expect(fixture.origin.confirmations == 1)
        let unstored = try await self.facts(fixture, cacheControl: "no-store")
        #expect(unstored.byteCount == SampleFiles.jpeg.count && fixture.origin.loads == 3)
    }

    @Test(
        arguments: [("no-store", nil), ("private", nil), (nil, "no-store"), ("max-age=60", nil)] as [(String?, String?)]
    )
    func `header and pixels are of one fetch, also if it is uncacheable`(
        source: String?, directive: String?
    ) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: source, eTag: "\"one\"")
        let first = try await facts(fixture, [.color], cacheControl: directive)
        #expect(fixture.origin.loads == 1 && fixture.decodes == 1 && first.eTag == "\"one\"")
        let isKept = directive == nil && source == "max-age=60"
        #expect(fixture.caches.statistics.allSatisfy { ($0.statistics.usage.entries == 0) != isKept })
        fixture.origin.serve(SampleFiles.other, cacheControl: source, eTag: "\"two\"")
        fixture.time.clock.advance(by: .seconds(61))
        let second = try await facts(fixture, [.color], cacheControl: directive)
        #expect(fixture.origin.loads == 2 && second.eTag == "\"two\"")
        #expect(second.appearance?.palette.first?.color != first.appearance?.palette.first?.color)
    }

    @Test func `a source that is no longer cacheable is confirmed, and its pixels are of that version`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60", eTag: "\"one\"")
        _ = try await facts(fixture)
        fixture.time.clock.advance(by: .seconds(61))
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-store", eTag: "\"one\"")
        let told = try await facts(fixture, [.color])
        #expect(fixture.origin.loads == 2)
        #expect(fixture.origin.confirmations == 1)
        #expect(told.appearance != nil && told.eTag == "\"one\"")
        #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
    }

    @Test func `oversized and truncated files have facts, unless pixels are needed`() async throws {
        let small = try PipelineFixture { $0.rules.limits.maximumSourcePixels = 10 }
        #expect(try await facts(small).header.size == ImageFixture.size)
        await #expect(throws: ImagingError.self) { try await facts(small, [.color]) }
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.truncated)
        #expect(try await facts(fixture).header.size == PixelSize(width: 160, height: 120))
        await #expect(throws: ImagingError.self) { try await facts(fixture, [.color]) }
        #expect(try await facts(fixture).header.format == .jpeg)
    }

    @Test func `a file that is not an image is rejected, and not requested again at once`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.text)
        for _ in 1...2 { await #expect(throws: ImagingError.notAnImage) { try await facts(fixture) } }
        #expect(fixture.origin.loads == 1)
    }

    @Test func `an appearance is computed from one small result, which is cached`() async throws {
        let fixture = try PipelineFixture()
        let first = try await facts(fixture, [.color, .palette, .blurHash])
        let appearance = try #require(first.appearance)
        #expect(appearance.palette.count >= 4 && appearance.blurHash?.utf8.count == 28 && appearance.thumbHash == nil)
        #expect(first.cacheStatus.map(\.layer) == [.result, .decoded, .source])
        let second = try await facts(fixture, [.thumbHash])
        #expect(second.cacheStatus.map(\.outcome) == [.hit, .hit])
        #expect(second.appearance?.thumbHash != nil && second.appearance?.palette.isEmpty == true)
        #expect(fixture.decodes == 1 && fixture.origin.loads == 1)
    }

    @Test func `the number of bytes survives a restart`() async throws {
        let folder = TemporaryFolder()
        do {
            let fixture = try PipelineFixture(diskFolder: folder.path)
            fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=600")
            _ = try await facts(fixture)
            await fixture.store?.shutDown(timeLimit: .seconds(20))
        }
        let fixture = try PipelineFixture(diskFolder: folder.path)
        #expect(try await facts(fixture).byteCount == SampleFiles.jpeg.count)
        #expect(fixture.origin.loads == 0)
        await fixture.store?.shutDown(timeLimit: .seconds(20))
    }

    @Test(arguments: ["text/plain; charset=utf-8", "text/xml", "application/xml"])
    func `of text media types, only drawings are images`(type: String) throws {
        let url = try SourceURL(parsing: "https://images.example.com/a")
        let head = SourceHead(
            identity: SourceIdentity(url: url), validator: .entityTag("\"a\""), headerFields: [.contentType: type],
            requestedAt: HTTPDate(secondsSince1970: 1_000), receivedAt: HTTPDate(secondsSince1970: 1_000))
        let drawing = SharedBytes(Array("<svg xmlns='http://www.w3.org/2000/svg' width='8' height='6'/>".utf8))
        #expect(try SourceRecord(head, bytes: drawing).header.format == .svg)
        #expect(throws: ImagingError.notAnImage) { try SourceRecord(head, bytes: SampleFiles.jpeg) }
    }
}
