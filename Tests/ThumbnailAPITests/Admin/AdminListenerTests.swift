import Coordination
import Dialects
import Downloading
import HTTPTypes
import JSON
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailPipeline

@testable import ThumbnailAPI

@Suite(.timeLimit(.minutes(1))) final class AdminListenerTests: Sendable {
    private let control = StubControl()
    let lifecycle = ServiceLifecycle(startedAt: .seconds(5))
    private let time = ManualTimekeeper()
    let log = RecordingSink()

    let prefetching = StubPrefetching()
    private let events = EventFeed(of: EventLog(), timekeeper: ManualTimekeeper()) { .null }
    let workers = WorkerPool(count: 1, maximumQueued: 10, name: "test")

    deinit { workers.shutDown() }

    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: String = "",
        token: String? = nil
    ) async -> HTTPResponse {
        let service = AdministeredService(
            version: "1.2.3", revision: "a1b2c3d4e5f6", instance: "one", control: control, prefetching: prefetching,
            lifecycle: lifecycle,
            events: events, history: StatsHistory(timekeeper: time) { fatalError("nobody samples") },
            slowRequests: SlowRequests(timekeeper: time), metricsText: { _ in "up 1\n" })
        let responder = ListenerResponder(
            administering: service, sites: AdminSites(), token: AdminToken(token.map { Secret($0) }),
            reader: PrefetchReader(NativeDialect()) {
                $0.host == "h" ? nil : "callbackHosts: none of them is \($0.host)"
            },
            explainer: TargetExplainer(APIConfiguration(), pipeline: PipelineConfiguration()), workers: workers,
            bodies: BodyMemory(of: MemoryBudget()), logger: Logger(level: .info, sink: log), timekeeper: time)
        let request = HTTPRequest(
            method: method, target: target, headerFields: fields, body: SharedBytes(Array(body.utf8)))
        return await PublicListenerFixture.response(of: responder.respond(to: request))
    }

    @Test(arguments: [("hold", "held"), ("resume", "reachable")])
    func `an origin is held and resumed`(verb: String, state: String) async {
        for origin in ["media", "media:"] {
            let response = await respond("/origins/\(verb)?origin=\(origin)", method: .post)
            #expect(response.status == .ok && response.text.contains(#""origin":"media","state":"\#(state)""#))
        }
        #expect(await respond("/origins/\(verb)", method: .post).code == "missing_parameter")
        #expect(await respond("/origins/\(verb)?origin=refused", method: .post).code == "bad_parameter")
        #expect(await respond("/origins/\(verb)?origin=", method: .post).code == "bad_parameter")
        #expect(await respond("/origins/\(verb)?origin=media").status == .methodNotAllowed)
    }

    @Test func `metrics are in Prometheus' text format`() async {
        let response = await respond("/metrics")
        #expect(response.text == "up 1\n")
        #expect(response[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response[.cacheControl] == "no-store")
        #expect(response[.contentSecurityPolicy] == "default-src 'none'; sandbox")
        #expect(response[.crossOriginResourcePolicy] == "same-origin")
    }

    @Test func `a target is explained`() async {
        let response = await respond("/explain?target=%2Fthumbnail%3Furl%3Dx%253Ay%26w%3D30&source=60x40.png")
        #expect(response.status == .ok && response[.contentType] == "application/json")
        #expect(
            response.text.contains(
                #""verdict":"works","dialect":"thumbnail","source":"x:y","assumedSource":"60x40 png""#))
        #expect(response.text.contains(#""parameters":{"w":"30"}"#))
        #expect(await respond("/explain").code == "missing_parameter")
        #expect(await respond("/explain?target=x&target=y").code == "bad_parameter")
        #expect(await respond("/explain?target=x&source=9").member("parameter") == "source")
        #expect(await respond("/explain?target=x&w=9").code == "unknown_parameter")
        #expect(await respond("/explain?target=x", method: .delete).status == .methodNotAllowed)
    }

    @Test func `the status shows the work in progress and the origins`() async {
        time.advance(by: .seconds(65))
        let text =
            #""activeDownloads":1,"queuedDownloads":2,"activeRenders":3,"#
            + #""originCounts":{"unknown":1,"reachable":0,"not_reachable":0,"suspended":1,"held":0},"origins":["#
            + #"{"origin":"https://h:443","state":"suspended","retryAfterSeconds":2.5,"cause":"no_response"},"#
            + #"{"origin":"https://i:443","state":"unknown","retryAfterSeconds":null}],"#
            + #""waiting":[{"for":"origin","host":"h:80","count":2,"seconds":0.25},"#
            + #"{"for":"small work","count":3,"seconds":0.25},{"for":"expensive work","count":3,"seconds":0.25}],"#
            + #""work":[{"origin":"shop:","step":"encode","format":"avif","seconds":1.5},"#
            + #"{"origin":"https://h:443","step":"decode","format":"png","seconds":0.002}],"slowRequests":[],"#
            + #""tenants":[],"#
            + #""diskCache":{"state":"full"},"sharedCache":{"state":"suspended"},"settings":[]}"#
        let start = #"{"version":"1.2.3","revision":"a1b2c3d4e5f6","instance":"one","uptimeSeconds":60,"#
        #expect(await respond("/status").text == start + #""draining":false,"# + text)
        lifecycle.failReadiness()
        #expect(await respond("/status").text == start + #""draining":true,"# + text)
    }

    @Test func `the statistics of the last ten minutes are uncacheable JSON`() async {
        let response = await respond("/stats/history")
        #expect(response.status == .ok && response[.contentType] == "application/json")
        #expect(response[.cacheControl] == "no-store")
        #expect(response.text.hasPrefix(#"{"ageSeconds":[],"#))
    }

    @Test func `the usage of each cache is shown`() async {
        #expect(
            await respond("/cache").text
                == #"{"decoded":{"bytes":1,"capacity":2,"preferred":3,"entries":4},"#
                + #""result":{"bytes":5,"capacity":6,"preferred":7,"entries":8}}"#)
    }

    @Test func `caches are emptied whole or by source`() async {
        #expect(await respond("/cache", method: .delete).text == #"{"entries":9,"bytes":90,"complete":true}"#)
        #expect(
            await respond("/cache?url=http%3A%2F%2Fh%2Fa%3Fb", method: .delete).text
                == #"{"entries":1,"bytes":10,"complete":true}"#)
        #expect(
            await respond("/cache?tag=product-7", method: .delete).text == #"{"entries":0,"bytes":0,"complete":true}"#)
        #expect(control.removed == ["*", "http://h/a?b", "#product-7"])
    }

    @Test(arguments: [
        ("/cache?url=", "bad_url"), ("/cache?url=%zz", "bad_url"), ("/cache?all=1", "unknown_parameter"),
        ("/cache?url=a&url=b", "bad_parameter"), ("/cache?url=refused", "bad_url"),
        ("/cache?tag=", "bad_parameter"), ("/cache?tag=a%2Cb", "bad_parameter"),
        ("/cache?url=a%3Ab&tag=c", "bad_parameter"),
    ])
    func `an invalid removal removes nothing`(target: String, code: String) async {
        let response = await respond(target, method: .delete)
        #expect(response.status == .badRequest)
        #expect(response.code == code)
        #expect(control.removed.isEmpty)
    }

    @Test func `a source is refreshed by its URL`() async {
        let response = await respond("/refresh?url=http%3A%2F%2Fh%2Fa%3Fb", method: .post)
        #expect(response.text == #"{"url":"http://h/a?b","result":"changed"}"#)
        #expect(control.refreshed == ["http://h/a?b"])
        #expect(
            await respond("/refresh?url=failing", method: .post).text
                == #"{"url":"failing","result":"failed","code":"origin_error","detail":"\#(StubError().publicMessage)"}"#
        )
        #expect(log.lines.last?["action"] == "refresh" && log.lines.last?["error"] == "origin_error")
        #expect(await respond("/refresh", method: .post).code == "missing_parameter")
        #expect(await respond("/refresh?url=refused", method: .post).code == "bad_url")
    }

    @Test func `the downloads of a source are canceled by its URL`() async {
        let response = await respond("/downloads?url=http%3A%2F%2Fh%2Fa", method: .delete)
        #expect(response.text == #"{"downloads":1,"receipts":3}"#)
        #expect(control.cancelled == ["http://h/a"])
        #expect(await respond("/downloads", method: .delete).code == "missing_parameter")
        #expect(await respond("/downloads?url=refused", method: .delete).code == "bad_url")
    }

    @Test(arguments: [
        ("/metrics", "GET"), ("/status", "GET"), ("/cache", "GET"), ("/cache", "DELETE"), ("/downloads", "GET"),
        ("/downloads", "DELETE"), ("/downloads/r1", "DELETE"), ("/prefetch", "POST"), ("/prefetch/job1", "GET"),
        ("/refresh", "POST"), ("/events", "GET"), ("/stats/history", "GET"), ("/explain", "GET"),
        ("/health/live", "GET"), ("/health/ready", "GET"), ("/", "GET"), ("/page/operators.js", "GET"),
        ("/page/operators.css", "HEAD"),
    ])
    func `every route rejects unknown parameters`(target: String, method: String) async {
        for query in ["?unknown=1", "?unknown", "?=", "?%75nknown=1"] {
            let response = await respond(target + query, method: HTTPRequest.Method(rawValue: method))
            #expect(response.status == .badRequest && response.code == "unknown_parameter", "\(target)\(query)")
        }
        #expect(control.removed.isEmpty && control.waiting == ["r1", "r2"] && prefetching.begun.isEmpty)
        #expect(control.refreshed.isEmpty && control.cancelled.isEmpty && events.readerCount == 0)
    }

    @Test func `the admin page has its own policy, and is sent again only after a change`() async {
        let page = await respond("/")
        #expect(page.status == .ok && page[.contentType] == "text/html; charset=utf-8")
        #expect(page[.contentSecurityPolicy] == CommonFields.pagePolicy)
        #expect(page[.crossOriginResourcePolicy] == "same-origin")
        for (path, type) in [
            ("/page/operators.css", "text/css; charset=utf-8"),
            ("/page/operators.js", "text/javascript; charset=utf-8"),
        ] {
            let file = await respond(path)
            #expect(file.status == .ok && file[.contentType] == type)
            #expect(file[.contentSecurityPolicy] == "default-src 'none'; sandbox")
            #expect(page.text.contains("\"\(path)\""), "\(path)")
            let eTag = file[.eTag] ?? ""
            #expect(await respond(path, fields: [.ifNoneMatch: eTag]).status == .notModified)
        }
        for forbidden in ["<style", "style=", "onclick=", "javascript:", "http-equiv", "\"//"] {
            #expect(!page.text.contains(forbidden), "\(forbidden)")
        }
    }

    @Test func `downloads are a list`() async {
        let response = await respond("/downloads")
        #expect(
            response.text
                == #"[{"url":"http://h/a","host":"h:80","state":"running","receivedBytes":3,"expectedBytes":null,"#
                + #""ageSeconds":0.25,"receipts":["r1","r2"]},{"url":"http://h/b","host":"h:80","state":"queued","#
                + #""receivedBytes":0,"expectedBytes":7,"ageSeconds":0.5,"receipts":[]}]"#)
    }

    @Test func `a receipt cancels once; an unknown one is a 404 and cancels nothing`() async {
        let first = await respond("/downloads/r1", method: .delete)
        #expect(first.status == .noContent)
        #expect(first.body.count == 0)
        let again = await respond("/downloads/r1", method: .delete)
        #expect(again.status == .notFound)
        #expect(again.code == "no_such_receipt")
        #expect(await respond("/downloads/other", method: .delete).code == "no_such_receipt")
        // Paths are split by bytes: as characters, the slash and the accent are one.
        #expect(await respond("/downloads/\u{301}", method: .delete).code == "no_such_receipt")
        #expect(control.waiting == ["r2"])
    }

    @Test(arguments: [
        ("/metrics", "POST", "GET, HEAD"), ("/cache", "POST", "GET, HEAD, DELETE"),
        ("/downloads", "PUT", "GET, HEAD, DELETE"), ("/refresh", "GET", "POST"), ("/events", "POST", "GET, HEAD"),
        ("/stats/history", "DELETE", "GET, HEAD"),
        ("/downloads/r1", "GET", "DELETE"), ("/status", "OPTIONS", "GET, HEAD"), ("/health/live", "PUT", "GET, HEAD"),
    ])
    func `other methods are rejected with an Allow field`(target: String, method: String, allow: String) async {
        let response = await respond(target, method: HTTPRequest.Method(rawValue: method))
        #expect(response.status == .methodNotAllowed)
        #expect(response[.allow] == allow)
    }

    @Test(arguments: ["/page.js", "/thumbnail?url=x:y", "/prefetch/", "/downloads/", "/downloads/a/b"])
    func `other paths are 404`(target: String) async {
        #expect(await respond(target).code == "no_such_route")
    }

    @Test func `the interface description is here, too, because the documentation links to it`() async {
        #expect(await respond("/openapi.yaml").status == .ok)
    }

    @Test func `health checks work here, too`() async {
        #expect(await respond("/health/live").status == .ok)
        #expect(await respond("/health/ready").status == .ok)
        lifecycle.beginDraining()
        #expect(await respond("/health/ready").status == .serviceUnavailable)
    }

    @Test(arguments: [
        ("/metrics", "GET"), ("/status", "GET"), ("/cache", "GET"), ("/cache", "DELETE"), ("/downloads", "GET"),
        ("/downloads/r1", "DELETE"), ("/prefetch", "POST"), ("/prefetch/job1", "GET"), ("/other", "GET"),
        ("/cache", "POST"), ("/", "GET"), ("/page/operators.js", "GET"), ("/events", "GET"), ("/refresh?url=a", "POST"),
        ("/downloads?url=a", "DELETE"), ("/stats/history", "GET"),
    ])
    func `under an unknown name only health checks are served`(target: String, method: String) async {
        let response = await respond(
            target, method: HTTPRequest.Method(rawValue: method), fields: [.host: "rebound.example:9091"])
        #expect(response.status == .forbidden && response.code == "cross_site")
        #expect(!response.text.contains("rebound"))
        #expect(response[.contentType] == "application/problem+json")
        #expect(control.removed.isEmpty && control.waiting == ["r1", "r2"] && prefetching.begun.isEmpty)
        #expect(log.lines.last?.level == .warning)
        #expect(log.lines.last?["detail"] == "host rebound.example:9091")
        for health in ["/health/live", "/health/ready"] {
            #expect(await respond(health, fields: [.host: "rebound.example:9091"]).status == .ok)
        }
    }

    @Test func `a browser's write for another site changes nothing`() async {
        for fields in [[.origin: "null"], [.secFetchSite: "same-site"]] as [HTTPFields] {
            for (target, method) in [
                ("/cache", HTTPRequest.Method.delete), ("/downloads?url=a", .delete), ("/downloads/r1", .delete),
                ("/refresh?url=a", method: .post), ("/prefetch", method: .post),
            ] {
                let response = await respond(target, method: method, fields: fields)
                #expect(response.status == .forbidden && response.code == "cross_site")
            }
        }
        #expect(control.removed.isEmpty && control.cancelled.isEmpty && control.refreshed.isEmpty)
        #expect(control.waiting == ["r1", "r2"])
        #expect(await respond("/cache", fields: [.secFetchSite: "cross-site"]).status == .ok)
    }

    @Test func `a password in a path is not logged`() async {
        _ = await respond("/downloads/https:user:secret@h", method: .delete)
        #expect(log.lines.last?["id"] == "h")
        _ = await respond("/cache", method: .delete, fields: [.origin: "http://user:secret@h"])
        #expect(log.lines.last?["detail"] == "site h")
    }
}
