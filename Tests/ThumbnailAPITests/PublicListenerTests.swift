import Dialects
import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite(.timeLimit(.minutes(1))) struct PublicListenerTests {
    private static let files = [
        "/", "/page/page.css", "/page/page.js", "/openapi.yaml", "/health/live", "/health/ready",
    ]

    @Test(arguments: files)
    func `each route answers GET and HEAD`(path: String) async {
        let listener = PublicListenerFixture()
        #expect(await listener.respond(path).status == .ok)
        #expect(await listener.respond(path + "?x=1", method: .head).status == .ok)
        #expect(await listener.respond(path)[.xRequestID] != nil)
    }

    @Test(
        arguments: files + ["/info", "/thumbnail", "/thumbnails"],
        ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "FOO"])
    func `other methods are rejected, and Allow lists the supported ones`(path: String, method: String) async {
        let allowed = ["/thumbnail": "GET, HEAD, POST", "/thumbnails": "POST"][path] ?? "GET, HEAD"
        guard !allowed.hasSuffix(method) else { return }
        let response = await PublicListenerFixture().respond(path, method: HTTPRequest.Method(rawValue: method))
        #expect(response.status == .methodNotAllowed)
        #expect(response.code == "method_not_allowed")
        #expect(response[.allow] == allowed)
        #expect(response[.contentSecurityPolicy] == "default-src 'none'; sandbox")
    }

    @Test(arguments: [
        "/nothing", "/thumbnail/", "//thumbnail?url=x:y", "/%74humbnail?url=x:y", "/Thumbnail", "", "*", "/metrics",
        "/status",
        "/cache", "/downloads", "/downloads/abc", "/prefetch", "/thumbnail#?url=x:y", "/page/page.css/", "/page",
        "/page/", "/page/operators.js",
    ])
    func `other paths are not found, including admin paths`(target: String) async {
        let response = await PublicListenerFixture().respond(target, method: .post)
        #expect(response.status == .notFound)
        #expect(response.code == "no_such_route")
    }

    @Test func `readiness fails during the shutdown, liveness does not`() async {
        let listener = PublicListenerFixture()
        #expect(await listener.respond("/health/ready").text == #"{"status":"ready"}"#)
        listener.lifecycle.failReadiness()
        let response = await listener.respond("/health/ready")
        #expect(response.status == .serviceUnavailable)
        #expect(response.code == "draining")
        #expect(response[.retryAfter] == "1")
        #expect(await listener.respond("/health/live").text == #"{"status":"live"}"#)
    }

    @Test(arguments: ["/", "/a"])
    func `imgproxy's and thumbor's health paths work here too`(path: String) async throws {
        let prefix = try #require(PathPrefix(path))
        var (imgproxy, thumbor) = (ImgproxyConfiguration(), ThumborConfiguration())
        (imgproxy.prefix, thumbor.prefix) = (prefix, prefix)
        (imgproxy.keys, imgproxy.salts) = ([[1]], [[2]])
        let dialects: [any Dialect] = [
            try #require(ImgproxyDialect(imgproxy)), try #require(ThumborDialect(thumbor)),
        ]
        let probes = zip(dialects, ["health", "healthcheck"])
        for (dialect, name) in probes {
            let listener = PublicListenerFixture { $0.otherDialects = [dialect] }
            let target = (path == "/" ? "" : path) + "/" + name
            #expect(await listener.respond(target + "?x=1").text == #"{"status":"ready"}"#)
            #expect(await listener.respond(target + "/a").status != .ok)
            listener.lifecycle.failReadiness()
            #expect(await listener.respond(target).status == .serviceUnavailable)
            #expect(await PublicListenerFixture().respond(target).status == .notFound)
        }
    }

    @Test(arguments: [
        (HTTPRejection.badRequest, 400, "bad_request"), (.headerTimeout, 408, "request_timeout"),
        (.targetTooLong, 414, "uri_too_long"), (.fieldsTooLarge, 431, "headers_too_large"),
    ])
    func `a rejection by the server has the same form`(rejection: HTTPRejection, status: Int, code: String) {
        let response = PublicListenerFixture().responder.response(to: rejection)
        #expect(response.status.code == status)
        #expect(response.code == code)
        #expect(response[.contentType] == "application/problem+json")
        #expect(response[.xContentTypeOptions] == "nosniff")
        #expect(response[.xRequestID] != nil)
    }

    @Test func `files are revalidated by their entity tags`() async {
        let listener = PublicListenerFixture()
        let first = await listener.respond("/page/page.css")
        #expect(first[.contentType] == "text/css; charset=utf-8")
        #expect(first[.cacheControl] == "no-cache")
        let second = await listener.respond("/page/page.css", fields: [.ifNoneMatch: first[.eTag] ?? ""])
        #expect(second.status == .notModified)
    }

    @Test func `each request is logged in one line, and counted`() async {
        let listener = PublicListenerFixture()
        let secret = "/thumbnail?url=https%3A%2F%2Fuser%3Apassword%40example.com%2Fa.jpg%3Ftoken%3Dsecret&w=3"
        let response = await listener.respond(secret)
        _ = await listener.respond("/nothing")
        #expect(listener.log.lines.count == 2)
        let line = listener.log.lines[0]
        #expect(line.level == .info)
        #expect(
            line.fields.map(\.0) == [
                "requestId", "method", "route", "status", "bytes", "durationMs", "target", "source", "tenant", "width",
                "height", "format", "cache",
            ])
        #expect(line["target"] == "/thumbnail?w=3" && line["tenant"] == "default" && line["cache"] == "hit")
        #expect(line["requestId"] == .string(response[.xRequestID] ?? ""))
        #expect(line["source"] == .string("example.com/a.jpg"))
        #expect(line["bytes"] == .int(7))
        #expect(listener.log.lines[1]["code"] == .string("no_such_route"))
        #expect(listener.log.lines[1]["target"] == .string("/nothing"))
        let metrics = listener.registry.prometheusText
        #expect(metrics.contains(#"alula_requests_total{route="thumbnail",status="200"} 1"#))
        #expect(metrics.contains(#"alula_requests_total{route="none",status="404"} 1"#))
        #expect(metrics.contains(#"alula_errors_total{code="no_such_route"} 1"#))
        #expect(metrics.contains(#"alula_errors_total{code="internal"} 0"#))
        #expect(metrics.contains(#"alula_request_seconds_count{route="thumbnail",cache="hit"} 1"#))
        #expect(metrics.contains(#"alula_request_seconds_count{route="none",cache="none"} 1"#))
    }

    @Test(arguments: ["/health/live", "/health/ready"])
    func `health checks are not timed`(target: String) async {
        let listener = PublicListenerFixture()
        #expect(await listener.respond(target).status == .ok)
        let (route, metrics) = (target.dropFirst(8), listener.registry.prometheusText)
        #expect(metrics.contains(#"alula_requests_total{route="\#(route)",status="200"} 1"#))
        #expect(!metrics.contains(#"alula_request_seconds_count{route="\#(route)""#))
    }

    @Test func `times of all cache results are there from the start`() {
        let metrics = PublicListenerFixture().registry.prometheusText
        for cache in ["hit", "joined", "decoded", "source", "miss"] {
            #expect(metrics.contains(#"alula_request_seconds_count{route="thumbnail",cache="\#(cache)"} 0"#))
        }
    }

    @Test func `a line says where the time of a miss went`() async {
        let steps = [
            StepTiming("transfer", duration: .milliseconds(20)), StepTiming("source", duration: .milliseconds(25)),
            StepTiming("queue", duration: .milliseconds(3)), StepTiming("decode", duration: .milliseconds(7)),
            StepTiming("render", duration: .milliseconds(2)), StepTiming("encode", duration: .microseconds(1_500)),
        ]
        let status = [CacheLayerStatus(.result, outcome: .uriMiss), CacheLayerStatus(.source, outcome: .uriMiss)]
        let listener = PublicListenerFixture(
            StubThumbnails(make: { _ in .sample(cacheStatus: status, timings: steps) }))
        _ = await listener.respond("/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=3")
        let line = listener.log.lines[0]
        #expect(line["cache"] == "miss" && line["width"] == 30 && line["format"] == "jpeg")
        #expect(line["queueMs"] == .double(8) && line["downloadMs"] == .double(20) && line["decodeMs"] == .double(7))
        #expect(line["renderMs"] == .double(2) && line["encodeMs"] == .double(1.5))
    }

    @Test func `a line names key and source, also of a rejected request`() async {
        let keys: [[UInt8]] = [Array(repeating: 1, count: 32), Array(repeating: 2, count: 32)]
        let listener = PublicListenerFixture { $0.signingKeys = keys }
        let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg%3Ftoken&w=3"
        #expect(await listener.respond(URLSigner.sign(target: target, key: keys[1])).status == .ok)
        #expect(await listener.respond(URLSigner.sign(target: target, key: [3])).status == .forbidden)
        #expect(await listener.respond(URLSigner.sign(target: target + "&x=1", key: keys[0])).status == .badRequest)
        let lines = listener.log.lines
        #expect(lines.map { $0["key"] } == ["2", nil, "1"])
        #expect(lines.map { $0["source"] } == Array(repeating: "example.com/a.jpg", count: 3))
        #expect(lines.map { $0["target"] } == ["/thumbnail?w=3", "/thumbnail?w=3", "/thumbnail?w=3&x=1"])
        #expect(lines.map { $0["code"] } == [nil, "bad_signature", "unknown_parameter"])
    }

    @Test func `the access log can be limited to errors`() async {
        let listener = PublicListenerFixture { $0.accessLog = .errors }
        _ = await listener.respond("/health/ready")
        #expect(listener.log.lines.isEmpty)
        _ = await listener.respond("/nothing")
        #expect(listener.log.lines.map { $0["status"] } == [.int(404)])
    }

    @Test func `probes are logged only at debug`() async {
        let listener = PublicListenerFixture()
        _ = await listener.respond("/health/ready")
        _ = await listener.respond("/health/live")
        #expect(listener.log.lines.isEmpty)
        _ = await listener.respond("/thumbnail?url=x:y")
        #expect(listener.log.lines.count == 1)
    }

    @Test func `without the access log only failures that need an explanation are logged`() async {
        let quiet = PublicListenerFixture { $0.accessLog = .off }
        _ = await quiet.respond("/thumbnail?url=x:y")
        _ = await quiet.respond("/nothing")
        #expect(quiet.log.lines.isEmpty)
        let failing = PublicListenerFixture(StubThumbnails(make: { _ in throw StubError(logDetail: "why") })) {
            $0.accessLog = .off
        }
        let response = await failing.respond("/thumbnail?url=x:y")
        #expect(failing.log.lines.map { $0["requestId"] } == [.string(response[.xRequestID] ?? "")])
    }
}
