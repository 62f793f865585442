import HTTPTypes
import Telemetry
import Testing

@testable import ThumbnailAPI

/// The listener that serves only metrics.
struct MetricsResponderTests {
    private let responder = MetricsResponder { $0 == .openMetrics ? "# EOF\n" : "alula_up 1\n" }

    private func respond(
        _ target: String, _ method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) async -> HTTPResponse {
        await PublicListenerFixture.response(
            of: responder.respond(to: HTTPRequest(method: method, target: target, headerFields: fields)))
    }

    @Test(arguments: ["/metrics", "/", "/cache", "/status?x"])
    func `every path has the metrics, and nothing else`(target: String) async {
        let answer = await respond(target)
        #expect(answer.status == .ok && answer.text == "alula_up 1\n")
        #expect(answer[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer[.cacheControl] == "no-store")
    }

    @Test(
        arguments: [
            ("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true),
            ("application/openmetrics-text;q=0.2, text/plain", false), ("application/openmetrics-text;q=0", false),
            ("*/*", false), ("text/html", false),
        ])
    func `a scraper that prefers OpenMetrics gets it`(accept: String, isOpenMetrics: Bool) async {
        let answer = await respond("/metrics", fields: [.accept: accept])
        #expect(answer.text == (isOpenMetrics ? "# EOF\n" : "alula_up 1\n"))
        #expect(answer[.contentType]?.hasPrefix("application/openmetrics-text; version=1.0.0;") == isOpenMetrics)
    }

    @Test func `other methods are rejected there`() async {
        let answer = await respond("/cache", .delete)
        #expect(answer.status == .methodNotAllowed && answer[.allow] == "GET, HEAD" && answer.code != nil)
        #expect(await respond("/prefetch", .post).status == .methodNotAllowed)
    }
}
