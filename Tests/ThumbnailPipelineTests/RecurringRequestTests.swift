import Testing

@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(1)))
struct RecurringRequestTests {
    private struct MadeAgain: Error {}

    @Test func `what a request means is found once for each version of its source`() async throws {
        let fixture = try PipelineFixture()
        let request = RecurringRequest(.path())
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        #expect(request.identity == nil)
        let made = try await fixture.thumbnail()
        #expect(fixture.pipeline.cachedThumbnail(for: request)?.eTag == made.eTag)
        let identity = try #require(request.identity)
        let record = try #require(fixture.caches.record(for: identity))
        #expect(throws: Never.self) { try request.resultKey(for: record) { throw MadeAgain() } }

        _ = await fixture.caches.removedEverything()
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        _ = try await fixture.thumbnail()
        let renewed = try #require(fixture.caches.record(for: identity))
        #expect(throws: MadeAgain.self) { try request.resultKey(for: renewed) { throw MadeAgain() } }
        #expect(fixture.pipeline.cachedThumbnail(for: request)?.eTag == made.eTag)
    }
}
