import HTTPTypes
import Testing
import ThumbnailPipeline

@testable import ThumbnailAPI

/// The clients whose `Cache-Control` counts.
@Suite(.timeLimit(.minutes(1))) struct ClientCacheControlTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.png"

    @Test func `unless honored, a client's directives change nothing`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample()))
        let response = await listener.respond(Self.target, fields: [.cacheControl: "no-cache"])
        #expect(response[.cacheStatus] == "alula-result;hit")
        #expect(listener.thumbnails.directives.isEmpty)
    }

    @Test func `unless honored, a client's directives do not reach the pipeline`() async {
        let listener = PublicListenerFixture()
        _ = await listener.respond(Self.target, fields: [.cacheControl: "no-store, only-if-cached"])
        #expect(listener.thumbnails.directives == [.none])
    }

    @Test func `if honored, directives reach the pipeline, and the result cache is not queried first`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample())) { $0.honorsClientCacheControl = true }
        var fields: HTTPFields = [.cacheControl: "no-cache"]
        fields.append(.cacheControl, "min-fresh=9")
        _ = await listener.respond(Self.target, fields: fields)
        var expected = RequestCacheControl.none
        expected.noCache = true
        expected.minFresh = 9
        #expect(listener.thumbnails.directives == [expected])
    }

    @Test func `if honored, a request without directives is answered at once`() async {
        let listener = PublicListenerFixture(StubThumbnails(cached: .sample())) { $0.honorsClientCacheControl = true }
        #expect(await listener.respond(Self.target)[.cacheStatus] == "alula-result;hit")
        #expect(listener.thumbnails.directives.isEmpty)
    }
}
