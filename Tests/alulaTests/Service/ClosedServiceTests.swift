import HTTPServing
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// A service with a key for any dialect serves no unsigned image.
struct ClosedServiceTests {
    private static let keys = [
        ["--thumbor-key", "key"], ["--thumbor-key", "key", "--thumbor-path", "/t"],
        ["--imgproxy-keys", "616c", "--imgproxy-salts", "616c"],
        ["--signing-keys", String(repeating: "ab", count: 32)],
    ]

    @Test(arguments: keys)
    func `no route for images serves unsigned requests, and no source is fetched`(_ key: [String]) async throws {
        try await withService(key + ["--wsrv-path", "/wsrv", "--uploads", "on"]) { running in
            let url = running.origin.url("/a.jpg")
            for (method, target) in [
                ("GET", running.target("/a.jpg")), ("HEAD", running.target("/a.jpg")), ("GET", "/info?url=\(url)"),
                ("GET", "/wsrv?url=\(url)"),
            ] {
                #expect(try await running.send(method, target).status == 403, "\(method) \(target)")
            }
            let unsafe = try await running.send("GET", "/t/unsafe/3x3/\(url)").status
            #expect(unsafe == (key.contains("--thumbor-path") ? 403 : 404))
            let list = #"{"url":"\#(url)","renditions":["w=3"]}"#
            for (target, type, body) in [
                ("/thumbnail?w=3", "image/jpeg", "x"), ("/thumbnails", "application/json", list),
            ] {
                let client = try running.connect()
                defer { client.close() }
                client.send(
                    "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                #expect(try await client.response().status == 403, "\(target)")
            }
            #expect(running.origin.requests.isEmpty)
            #expect(try await running.send("GET", "/health/ready").status == 200)
        }
    }

    @Test func `metrics have their own listener`() async throws {
        try await withService(["--metrics-bind", "127.0.0.1:0"]) { running in
            let client = try RawHTTPClient(port: try #require(running.service.metricsServer?.port))
            defer { client.close() }
            client.send("GET /any HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.response().text.contains("alula_requests_total"))
            client.send("DELETE /cache HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.response().status == 405)
        }
    }
}
