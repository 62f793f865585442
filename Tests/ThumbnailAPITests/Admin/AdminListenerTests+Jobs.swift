import Coordination
import Dialects
import HTTPTypes
import Prefetching
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Prefetch jobs.
extension AdminListenerTests {
    private func prefetch(_ body: String, type: String? = "application/json") async -> HTTPResponse {
        var fields = HTTPFields()
        if let type { fields.append(.contentType, type) }
        return await respond("/prefetch", method: .post, fields: fields, body: body)
    }

    @Test func `a job is a list of sources with renditions`() async {
        let response = await prefetch(
            #"{"sources":[{"url":"http://h/a.jpg?x=1&y","renditions":["w=300&format=webp",{"name":"low","query":"h=20&q=5"},""]},"#
                + #"{"url":"http://h/b c","renditions":["format=png&w=1"]}]}"#)
        #expect(response.status == .accepted)
        #expect(response.text == #"{"id":"job1","survivesRestart":true}"#)
        #expect(response[.location] == "/prefetch/job1")
        let targets = prefetching.begun.first ?? []
        #expect(
            targets == [
                "/thumbnail?url=http%3A%2F%2Fh%2Fa.jpg%3Fx%3D1%26y&w=300&format=webp",
                "/thumbnail?url=http%3A%2F%2Fh%2Fa.jpg%3Fx%3D1%26y&h=20&q=5",
                "/thumbnail?url=http%3A%2F%2Fh%2Fa.jpg%3Fx%3D1%26y",
                "/thumbnail?url=http%3A%2F%2Fh%2Fb%20c&w=1&format=png",
            ])
        let requests = targets.map { PrefetchReader(NativeDialect()).work(of: PrefetchItem($0))?.request }
        #expect(requests.map { $0?.nativeOptions?.width } == [300, nil, nil, 1])
        #expect(requests.allSatisfy { $0?.source.string.hasPrefix("http://h/") == true })
    }

    @Test(arguments: [
        ("[]", ""), ("{", ""), ("", ""), (#"{"sources":[]}"#, "/sources"), ("{}", "/sources"),
        (#"{"sources":[],"more":1}"#, "/more"), (#"{"sources":{}}"#, "/sources"), (#"{"sources":[1]}"#, "/sources/0"),
        (#"{"sources":[{"renditions":["w=1"]}]}"#, "/sources/0/url"),
        (#"{"sources":[{"url":1,"renditions":["w=1"]}]}"#, "/sources/0/url"),
        (#"{"sources":[{"url":"http://h/a"}]}"#, "/sources/0/renditions"),
        (#"{"sources":[{"url":"http://h/a","renditions":[]}]}"#, "/sources/0/renditions"),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=1",{}]}]}"#, "/sources/0/renditions/1/query"),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=1",2]}]}"#, "/sources/0/renditions/1"),
        (#"{"sources":[{"url":"http://h/a","renditions":[{"include":"color"}]}]}"#, "/sources/0/renditions/0/include"),
        (
            #"{"sources":[{"url":"http://h/a","renditions":[{"query":"w=1","name":".a"}]}]}"#,
            "/sources/0/renditions/0/name"
        ),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=0"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=1&w=2"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["nope=1"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["url=http://h/b"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=1&%73ig=x"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["expires=1"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["placeholder=red"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"","renditions":["w=1"]}]}"#, "/sources/0/renditions/0"),
        (#"{"sources":[{"url":"http://h/a","renditions":["w=1"],"x":1}]}"#, "/sources/0/x"),
    ])
    func `an invalid job is rejected with the position of its first fault`(body: String, place: String) async {
        let response = await prefetch(body)
        #expect(response.status == .badRequest && response.code == "bad_body", "\(response.text)")
        #expect((response.member("parameter") ?? "") == place, "\(response.text)")
        #expect(prefetching.begun.isEmpty)
    }

    @Test func `a job must be sent as JSON, which a browser's page cannot do without a preflight`() async {
        let body = #"{"sources":[{"url":"http://h/a","renditions":["w=1"]}]}"#
        #expect(await prefetch(body, type: "application/json; charset=utf-8").status == .accepted)
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", nil] {
            #expect(await prefetch(body, type: type).code == "not_json")
        }
    }

    @Test func `a job may name a host for its callback, if the settings allow it`() async {
        func body(_ callback: String) -> String {
            #"{"sources":[{"url":"http://h/a","renditions":["w=1"]}],"callback":"# + callback + "}"
        }
        #expect(await prefetch(body("\"HTTPS://h:443/x?y\"")).status == .accepted)
        #expect(prefetching.callbacks == ["https://h/x?y"])
        let rejected = await prefetch(body("\"https://other/x\""))
        #expect(rejected.status == .forbidden && rejected.code == "callback_not_allowed")
        #expect(rejected.text.contains("callbackHosts: none of them is other"))
        for wrong in ["1", "\"\"", "\"ftp://h/\"", "\"https://u:p@h/\"", "\"https://h/#a\"", "null"] {
            #expect(await prefetch(body(wrong)).member("parameter") == "/callback", "\(wrong)")
        }
        #expect(prefetching.begun.count == 1)
    }

    @Test func `a job with too many thumbnails is rejected`() async {
        func body(_ count: Int) -> String {
            let renditions = (0..<count).map { "\"w=\($0 % 999 + 1)\"" }.joined(separator: ",")
            return #"{"sources":[{"url":"http://h/a","renditions":["# + renditions + "]}]}"
        }
        #expect(await prefetch(body(10_000)).status == .accepted)
        #expect(await prefetch(body(10_001)).member("parameter") == "/sources/0/renditions/10000")
    }

    @Test func `a short body that repeats a long URL is rejected if its targets are too long together`() async {
        let url = "http://h/" + String(repeating: "a", count: 1_900)
        let renditions = (1...999).map { "\"w=\($0)\"" }.joined(separator: ",")
        let response = await prefetch("{\"sources\":[{\"url\":\"\(url)\",\"renditions\":[\(renditions)]}]}")
        #expect(response.status == .badRequest && response.code == "bad_body")
        #expect(response.member("parameter")?.hasPrefix("/sources/0/renditions/5") == true)
    }

    @Test func `a worker thread parses the body of a job, not the event thread`() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let holding = Task { [workers] in try await workers.run { _ in gate.pass() } }
        await gate.arrivals(1)
        let answer = Task.immediate {
            await self.prefetch(#"{"sources":[{"url":"http://h/a","renditions":["w=1"]}]}"#)
        }
        #expect(workers.queuedCount == 1)
        #expect(prefetching.begun.isEmpty)
        gate.open()
        #expect(await answer.value.status == .accepted)
        try await holding.value
    }

    @Test func `a job cut by the shutdown is rejected as draining`() async {
        let lifecycle = lifecycle
        let answer = Task {
            lifecycle.beginCutting()
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await self.prefetch(#"{"sources":[{"url":"http://h/a","renditions":["w=1"]}]}"#)
        }
        #expect(await answer.value.code == "draining")
    }

    @Test func `a job whose client leaves before it is parsed is not begun, and not logged as an error`() async {
        let answer = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return await self.prefetch(#"{"sources":[{"url":"http://h/a","renditions":["w=1"]}]}"#)
        }
        #expect(await answer.value.status == .clientClosedRequest)
        #expect(prefetching.begun.isEmpty)
        #expect(log.lines.allSatisfy { $0.level != .error })
    }

    @Test func `jobs are listed, and canceled by their IDs`() async {
        let list = await respond("/prefetch")
        #expect(
            list.text
                == #"{"jobs":[{"id":"job1","state":"running","total":5,"done":2,"failed":1,"left":2}]}"#)
        #expect(await respond("/prefetch/job1", method: .delete).status == .noContent)
        #expect(await respond("/prefetch/job2", method: .delete).code == "no_such_job")
        #expect(await respond("/prefetch", method: .delete).status == .methodNotAllowed)
    }

    @Test func `the progress of a job is shown under its ID`() async {
        let response = await respond("/prefetch/job1")
        let counts = #""state":"running","total":5,"done":2,"failed":1,"left":2"#
        let failure =
            #"{"url":"photos:a","target":"/thumbnail?url=photos:a","code":"source_not_found","detail":"No such image."}"#
        #expect(response.text == #"{"id":"job1",\#(counts),"failures":[\#(failure)],"results":[]}"#)
        #expect(await respond("/prefetch/other").code == "no_such_job")
        #expect(await respond("/prefetch/job1", method: .post).code == "method_not_allowed")
        #expect(await respond("/prefetch", method: .delete)[.allow] == "GET, HEAD, POST")
        #expect(await respond("/prefetch/job1/x").code == "no_such_route")
    }
}
