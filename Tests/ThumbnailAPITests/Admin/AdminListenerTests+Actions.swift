import Downloading
import HTTPTypes
import Telemetry
import TestSupport
import Testing

@testable import ThumbnailAPI

/// The admin token, and log lines of actions.
extension AdminListenerTests {
    @Test(arguments: [
        ("/metrics", "GET"), ("/status", "GET"), ("/cache", "GET"), ("/cache", "DELETE"), ("/downloads", "GET"),
        ("/downloads/r1", "DELETE"), ("/prefetch", "POST"), ("/prefetch/job1", "GET"), ("/other", "GET"),
        ("/events", "GET"), ("/refresh?url=a", "POST"), ("/stats/history", "GET"), ("/explain?target=a", "GET"),
    ])
    func `without the token only health checks and the page's files are served`(
        target: String, method: String
    ) async {
        let wrong = [nil, "", "geheim", "Bearer", "Bearer ", "Bearer geheim2", "Bearer geheim ", "Basic geheim"]
        for field in wrong {
            let fields: HTTPFields = field.map { [.authorization: $0] } ?? [:]
            let response = await respond(
                target, method: HTTPRequest.Method(rawValue: method), fields: fields, token: "geheim")
            #expect(response.status == .unauthorized && response.code == "bad_key", "\(field ?? "-")")
            #expect(response[.wwwAuthenticate] == "Bearer" && response[.contentType] == "application/problem+json")
        }
        #expect(prefetching.begun.isEmpty && !log.lines.contains { $0["action"] != nil })
        #expect(log.lines.allSatisfy { $0.level == .warning && $0["error"] == "bad_key" })
        for open in ["/health/live", "/health/ready", "/", "/page/operators.js", "/page/base.css", "/book/"] {
            #expect(await respond(open, token: "geheim").status == .ok, "\(open)")
        }
    }

    @Test(arguments: ["Bearer geheim", "bearer geheim", "BEARER geheim"])
    func `with the token everything is served`(field: String) async {
        let fields: HTTPFields = [.authorization: field]
        for target in ["/status", "/metrics", "/cache"] {
            #expect(await respond(target, fields: fields, token: "geheim").status == .ok)
        }
        #expect(await respond("/cache", method: .delete, fields: fields, token: "geheim").status == .ok)
    }

    @Test func `an action is one line with its subject and its entries`() async {
        _ = await respond("/status")
        #expect(log.lines.isEmpty)
        for (target, method, fields) in [
            ("/cache?url=http%3A%2F%2Fh%2Fa%3Fk%3Dsecret", .delete, ["action": "purge", "url": "http://h/a?***"]),
            ("/cache?tag=news", .delete, ["action": "purge", "tag": "news"]), ("/cache", .delete, ["action": "purge"]),
            ("/refresh?url=http%3A%2F%2Fh%2Fa", .post, ["action": "refresh", "url": "http://h/a"]),
            ("/downloads?url=http%3A%2F%2Fh%2Fa", .delete, ["action": "cancel", "url": "http://h/a"]),
            ("/downloads/r1", .delete, ["action": "cancel", "id": "r1"]), ("/reload", .post, ["action": "reload"]),
        ] as [(String, HTTPRequest.Method, [String: String])] {
            let count = log.lines.count
            _ = await respond(target, method: method)
            #expect(log.lines.count == count + 1)
            guard let line = log.lines.last else { continue }
            #expect(line.level == .info && line.message == "operator action" && line["client"] == "unix")
            for (name, value) in fields { #expect(line[name] == .string(value), "\(target)") }
            #expect(line["entries"] != nil, "\(target)")
        }
        #expect(!log.lines.contains { "\($0)".contains("secret") })
    }

    @Test func `an action that fails is logged with its error`() async {
        _ = await respond("/downloads/r9", method: .delete)
        #expect(log.lines.last?["action"] == "cancel" && log.lines.last?["error"] == "no_such_receipt")
        #expect(log.lines.last?["status"] == 404 && log.lines.last?.level == .info)
    }
}
