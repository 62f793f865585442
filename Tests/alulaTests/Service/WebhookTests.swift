import HTTPTypes
import TestSupport
import Testing

@testable import Composition
@testable import Settings
@testable import Webhooks

/// Outgoing calls of the whole service over real sockets.
@Suite(.timeLimit(.minutes(1)))
struct WebhookTests {
    private func encoded(_ url: String) -> String {
        url.replacing(":", with: "%3A").replacing("/", with: "%2F")
    }

    @Test func `a removal and a refresh with a change call the hooks, and others do not`() async throws {
        let hook = try FakeOrigin()
        defer { hook.stop() }
        hook.serve("/purge", FakeResponse(status: 200))
        let purgeHook = try PurgeHook(url: hook.url("/purge?u={url}"), method: "BAN")
        try await withService(configure: {
            $0.notifying.hooks = [purgeHook]
        }) { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array))
            let source = encoded(running.origin.url("/a"))
            #expect(try await running.thumbnail("/a").status == 200)
            let same = try await running.send("POST", "/refresh?url=\(source)", to: .admin)
            #expect(same.text.contains("unchanged"))
            #expect(hook.requests.isEmpty)
            #expect(try await running.send("DELETE", "/cache?url=\(source)", to: .admin).status == 200)
            await hook.reachedHits(1)
            #expect(hook.requests.first?.method == "BAN" && hook.requests.first?.target == "/purge?u=\(source)")
            #expect(try await running.thumbnail("/a").status == 200)
            running.origin.serve("/a", .image(ImageFixture.png.array))
            let other = try await running.send("POST", "/refresh?url=\(source)", to: .admin)
            #expect(other.text.contains("\"changed\""))
            await hook.reachedHits(2)
            let status = try await running.send("GET", "/status", to: .admin).text
            #expect(status.contains(#""outgoingCalls":{"purge_hook":{"waiting":0,"sent":"#))
            #expect(
                await eventually {
                    let text = try? await running.send("GET", "/metrics", to: .admin).text
                    return text?.contains(#"alula_outgoing_calls_total{kind="purge_hook",outcome="sent"} 2"#) == true
                })
        }
    }

    @Test func `a job calls back a host that the settings allow, and no other`() async throws {
        let callback = try FakeOrigin()
        defer { callback.stop() }
        callback.serve("/done", FakeResponse(status: 204))
        try await withService(["--callback-hosts", "127.0.0.1"]) { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array))
            func begin(_ url: String) async throws -> RawHTTPClient.Response {
                let body =
                    #"{"sources":[{"url":"\#(running.origin.url("/a"))","renditions":["w=9"]}],"callback":"\#(url)"}"#
                let client = try running.connect(to: .admin)
                defer { client.close() }
                client.send(
                    "POST /prefetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return try await client.response()
            }
            for url in ["http://localhost:\(callback.port)/done", "http://10.0.0.1/done"] {
                let rejected = try await begin(url)
                #expect(rejected.status == 403 && rejected.text.contains("callback_not_allowed"), "\(rejected.text)")
            }
            #expect(try await begin("nothing").text.contains("/callback"))
            let job = try await begin(callback.url("/done?x=1"))
            #expect(job.status == 202, "\(job.text)")
            await callback.reachedHits(1)
            let call = try #require(callback.requests.first)
            let report = String(decoding: call.body, as: UTF8.self)
            #expect(call.method == "POST" && call.target == "/done?x=1")
            #expect(report.contains(#""state":"finished","total":1,"done":1,"failed":0,"left":0"#), "\(report)")
            #expect(call.value("User-Agent")?.hasPrefix("Alula/") == true)
        }
    }
}
