import Coordination
import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline

@testable import ThumbnailAPI

@Suite struct OperatorResponderTests {
    private let control = StubControl()
    private let lifecycle = ServiceLifecycle(startedAt: .seconds(5))
    private let time = ManualTimekeeper()
    private let log = RecordingSink()

    private func respond(_ target: String, method: HTTPRequest.Method = .get) -> HTTPResponse {
        var configuration = APIConfiguration()
        configuration.version = "1.2.3"
        let responder = OperatorResponder(
            configuration: configuration, control: control, lifecycle: lifecycle, metricsText: { "up 1\n" },
            logger: Logger(level: .info, sink: log), timekeeper: time)
        guard case .now(let response) = responder.answer(HTTPRequest(method: method, target: target)) else {
            return HTTPResponse(status: .internalServerError)
        }
        return response
    }

    @Test func `metrics are Prometheus' text`() {
        let response = respond("/metrics")
        #expect(response.text == "up 1\n")
        #expect(response[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response[.cacheControl] == "no-store")
        #expect(response[.contentSecurityPolicy] == "default-src 'none'; sandbox")
        #expect(response[.crossOriginResourcePolicy] == "same-origin")
    }

    @Test func `the status tells what is going on`() {
        time.advance(by: .seconds(65))
        let text = #""activeDownloads":1,"queuedDownloads":2,"activeRenders":3,"origins":[]}"#
        #expect(respond("/status").text == #"{"version":"1.2.3","uptimeSeconds":60,"draining":false,"# + text)
        lifecycle.failReadiness()
        #expect(respond("/status").text == #"{"version":"1.2.3","uptimeSeconds":60,"draining":true,"# + text)
    }

    @Test func `caches are told one by one`() {
        #expect(
            respond("/cache").text
                == #"{"decoded":{"bytes":1,"capacity":2,"preferred":3,"entries":4},"#
                + #""result":{"bytes":5,"capacity":6,"preferred":7,"entries":8}}"#)
    }

    @Test func `caches are emptied whole or by source`() {
        #expect(respond("/cache", method: .delete).text == #"{"entries":9,"bytes":90}"#)
        #expect(respond("/cache?url=http%3A%2F%2Fh%2Fa%3Fb", method: .delete).text == #"{"entries":1,"bytes":10}"#)
        #expect(control.removed == ["*", "http://h/a?b"])
    }

    @Test(arguments: [
        ("/cache?url=", "bad_url"), ("/cache?url=%zz", "bad_url"), ("/cache?all=1", "unknown_parameter"),
        ("/cache?url=a&url=b", "bad_parameter"), ("/cache?url=refused", "bad_url"),
    ])
    func `a removal that is not understood removes nothing`(target: String, code: String) {
        let response = respond(target, method: .delete)
        #expect(response.status == .badRequest)
        #expect(response.code == code)
        #expect(control.removed.isEmpty)
    }

    @Test func `downloads are a list`() {
        let response = respond("/downloads")
        #expect(
            response.text
                == #"[{"url":"http://h/a","host":"h:80","state":"running","receivedBytes":3,"expectedBytes":null,"#
                + #""ageSeconds":0.25,"receipts":["r1","r2"]},{"url":"http://h/b","host":"h:80","state":"queued","#
                + #""receivedBytes":0,"expectedBytes":7,"ageSeconds":0.5,"receipts":[]}]"#)
    }

    @Test func `22: a receipt cancels once, an unknown one is a 404 and harms nobody`() {
        let first = respond("/downloads/r1", method: .delete)
        #expect(first.status == .noContent)
        #expect(first.body.count == 0)
        let again = respond("/downloads/r1", method: .delete)
        #expect(again.status == .notFound)
        #expect(again.code == "no_such_receipt")
        #expect(respond("/downloads/other", method: .delete).code == "no_such_receipt")
        #expect(control.waiting == ["r2"])
    }

    @Test func `what changes something is logged`() {
        _ = respond("/status")
        #expect(log.lines.isEmpty)
        _ = respond("/cache?url=http%3A%2F%2Fh%2Fsecret", method: .delete)
        #expect(log.lines.count == 1)
        #expect(log.lines[0]["path"] == .string("/cache"))
    }

    @Test(arguments: [
        ("/metrics", "POST", "GET, HEAD"), ("/cache", "POST", "GET, HEAD, DELETE"),
        ("/downloads", "DELETE", "GET, HEAD"),
        ("/downloads/r1", "GET", "DELETE"), ("/status", "OPTIONS", "GET, HEAD"), ("/health/live", "PUT", "GET, HEAD"),
    ])
    func `other methods are told which there are`(target: String, method: String, allow: String) {
        let response = respond(target, method: HTTPRequest.Method(rawValue: method))
        #expect(response.status == .methodNotAllowed)
        #expect(response[.allow] == allow)
    }

    @Test(arguments: ["/", "/thumbnail?url=x:y", "/prefetch", "/downloads/", "/downloads/a/b", "/openapi.yaml"])
    func `other paths are nothing`(target: String) {
        #expect(respond(target).code == "no_such_route")
    }

    @Test func `health is told here, too`() {
        #expect(respond("/health/live").status == .ok)
        #expect(respond("/health/ready").status == .ok)
        lifecycle.beginDraining()
        #expect(respond("/health/ready").status == .serviceUnavailable)
    }
}

/// A running service as operators see it, without one.
private final class StubControl: ServiceControlling {
    private let state = Locked((removed: [String](), waiting: ["r1", "r2"]))

    var removed: [String] { state.withLock { $0.removed } }
    var waiting: [String] { state.withLock { $0.waiting } }

    let activity = ServiceActivity(activeDownloads: 1, queuedDownloads: 2, activeRenders: 3)
    let cacheUsage: [(name: String, usage: CacheUsage)] = [
        ("decoded", CacheUsage(bytes: 1, capacity: 2, preferred: 3, entries: 4)),
        ("result", CacheUsage(bytes: 5, capacity: 6, preferred: 7, entries: 8)),
    ]
    let downloads = [
        DownloadStatus(
            url: "http://h/a", host: "h:80", isRunning: true, receivedBytes: 3, expectedBytes: nil, ageSeconds: 0.25,
            receipts: ["r1", "r2"]),
        DownloadStatus(
            url: "http://h/b", host: "h:80", isRunning: false, receivedBytes: 0, expectedBytes: 7, ageSeconds: 0.5,
            receipts: []),
    ]

    func removeAll() -> RemovedEntries {
        state.withLock { $0.removed.append("*") }
        return RemovedEntries(entries: 9, bytes: 90)
    }

    func remove(source: String) throws -> RemovedEntries {
        if source == "refused" { throw StubError(status: .badRequest, code: "bad_url") }
        state.withLock { $0.removed.append(source) }
        return RemovedEntries(entries: 1, bytes: 10)
    }

    func cancel(receipt: String) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(of: receipt) else { return false }
            state.waiting.remove(at: index)
            return true
        }
    }
}
