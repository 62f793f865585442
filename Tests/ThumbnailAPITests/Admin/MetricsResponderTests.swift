import HTTPTypes
import Testing

@testable import ThumbnailAPI

/// The listener that has nothing but metrics.
struct MetricsResponderTests {
    private let responder = MetricsResponder { "alula_up 1\n" }

    private func respond(_ target: String, _ method: HTTPRequest.Method = .get) async -> HTTPResponse {
        await PublicListenerFixture.response(of: responder.respond(to: HTTPRequest(method: method, target: target)))
    }

    @Test(arguments: ["/metrics", "/", "/cache", "/status?x"])
    func `every path has the metrics, and nothing else`(target: String) async {
        let answer = await respond(target)
        #expect(answer.status == .ok && answer.text == "alula_up 1\n")
        #expect(answer[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer[.cacheControl] == "no-store")
    }

    @Test func `other methods are rejected there`() async {
        let answer = await respond("/cache", .delete)
        #expect(answer.status == .methodNotAllowed && answer[.allow] == "GET, HEAD" && answer.code != nil)
        #expect(await respond("/prefetch", .post).status == .methodNotAllowed)
    }
}
