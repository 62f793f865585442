import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(1)))
struct ResolvedRequestTests {
    @Test func `a request is resolved once for each version of its source`() async throws {
        let fixture = try PipelineFixture()
        let request = fixture.pipeline.resolved(.path())
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        #expect(request.last == nil)
        let made = try await fixture.thumbnail()
        #expect(fixture.pipeline.cachedThumbnail(for: request)?.eTag == made.eTag)
        let first = try #require(request.last)
        #expect(first.serials.main == fixture.caches.freshRecord(for: first.key.source)?.serial)
        #expect(fixture.pipeline.cachedThumbnail(for: request)?.eTag == made.eTag)
        #expect(request.last?.serials.main == first.serials.main)

        _ = await fixture.caches.purgeLocal(.everything)
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        _ = try await fixture.thumbnail()
        #expect(fixture.pipeline.cachedThumbnail(for: request)?.eTag == made.eTag)
        let renewed = try #require(request.last)
        #expect(renewed.serials.main != first.serials.main)
        #expect(renewed.key == first.key)
    }
}
