import Coordination
import Downloading
import HTTPServing
import HTTPTypes
import Memory
import Telemetry
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// Named origins in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct NamedOriginTests {
    @Test func `a source is named by its origin, which may be private`() async throws {
        let running = try NamedService()
        running.origin.serve("/library/a.png", .image(ImageFixture.png.array, type: "image/png"))
        let answer = try await running.send("/thumbnail?url=photos:a.png&w=32")
        #expect(answer.status == 200)
        #expect(running.origin.requests.first?.value("Authorization") == "Bearer t0p-s3cret")
        let url = running.origin.url("/library/a.png")
        #expect(try await running.send("/thumbnail?url=\(url)&w=32").status == 403)
        #expect(try await running.send("/thumbnail?url=photo:a.png&w=32").status == 400)
        await running.stop()
    }

    @Test func `a file of a configured folder is a source`() async throws {
        let folder = TemporaryFolder()
        folder.write("a/b.png", ImageFixture.png.array)
        let running = try NamedService(folder: folder.path)
        #expect(try await running.send("/thumbnail?url=local:a%2Fb.png&w=32").status == 200)
        #expect(try await running.send("/thumbnail?url=local:a/none.png&w=32").status == 404)
        #expect(try await running.send("/thumbnail?url=local:../a/b.png&w=32").status == 403)
        await running.stop()
    }

    @Test func `operators see a source by its name, and can use the name in requests`() async throws {
        let folder = TemporaryFolder()
        folder.write("a b.png", ImageFixture.png.array)
        let running = try NamedService(folder: folder.path)
        running.origin.serve("/library/a.png", .image(ImageFixture.png.array, type: "image/png"))
        let client = try running.connect(to: .admin)
        client.send("GET /events?types=render,purge HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await client.response(isHead: true)
        for (source, name) in [("photos:a.png?x=1", "photos:a.png?x=1"), ("local:/a%20b.png", "local:a b.png")] {
            let encoded = source.replacing("?", with: "%3F")
            #expect(try await running.send("/thumbnail?url=\(encoded)&w=32").status == 200)
            var text = ""
            while !text.contains("event: render") || !text.hasSuffix("}\n\n") {
                text += String(decoding: try await client.bytes(1), as: UTF8.self)
            }
            #expect(text.contains(#""url":"\#(name)""#) && !text.contains("folder://") && !text.contains("127.0.0.1"))
            let shown = name.replacing("?", with: "%3F").replacing(" ", with: "%20")
            let refreshed = try await running.send("/refresh?url=\(shown)", method: "POST", to: .admin)
            #expect(refreshed.text == #"{"url":"\#(name)","result":"unchanged"}"#)
            let removed = try await running.send("/cache?url=\(shown)", method: "DELETE", to: .admin)
            #expect(removed.text.hasPrefix(#"{"entries":3,"#))
            while !text.contains(#"{"url":"\#(name)","entries":3,"#) {
                text += String(decoding: try await client.bytes(1), as: UTF8.self)
            }
            let again = try await running.send("/cache?url=\(shown)", method: "DELETE", to: .admin)
            #expect(again.status == 200 && again.text == #"{"entries":0,"bytes":0,"complete":true}"#)
        }
        client.close()
        let status = try await running.send("/status", to: .admin).text
        #expect(status.contains(#""retryAfterSeconds":null,"names":["photos","traced"]"#))
        #expect(status.contains(#"{"origin":"local:","state":"reachable","retryAfterSeconds":null,"names":["local"]}"#))
        await running.stop()
    }

    @Test func `a download of a named origin is shown and canceled by its name`() async throws {
        let running = try NamedService()
        let gate = Gate()
        running.origin.serve("/library/slow", FakeResponse.status(404).held(at: gate))
        let caller = Task { try await running.send("/thumbnail?url=photos:slow&w=32") }
        await gate.arrivals(1)
        let listed = try await running.send("/downloads", to: .admin).text
        #expect(listed.hasPrefix(#"[{"url":"photos:slow","host":"127.0.0.1:\#(running.origin.port)","#))
        let cancelled = try await running.send("/downloads?url=photos:slow", method: "DELETE", to: .admin)
        #expect(cancelled.text == #"{"downloads":1,"receipts":1}"#)
        #expect(try await caller.value.status == 409)
        gate.open()
        await running.stop()
    }

    @Test func `an origin that keeps failing is rejected with its Retry-After, and listed`() async throws {
        let running = try NamedService()
        for number in 0..<5 {
            running.origin.serve("/library/\(number)", .closing)
            #expect(try await running.send("/thumbnail?url=photos:\(number)&w=32").status == 502)
        }
        let answer = try await running.send("/thumbnail?url=photos:a&w=32")
        #expect(answer.status == 503)
        #expect(answer.text.contains("origin_suspended"))
        #expect(answer.headerFields[.retryAfter] == "5")
        let status = try await running.send("/status", to: .admin).text
        #expect(status.contains(#""origin":"http://127.0.0.1:\#(running.origin.port)","state":"suspended""#))
        let metrics = try await running.send("/metrics", to: .admin).text
        #expect(metrics.contains("alula_origins{state=\"suspended\"} 1\n"))
        #expect(metrics.contains("alula_origin_suspensions_total 1\n"))
        #expect(!metrics.contains("127.0.0.1"))
        await running.stop()
    }

    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test(arguments: ["00", "01"])
    func `only an origin with tracing enabled receives a trusted caller's trace`(flags: String) async throws {
        let log = RecordingSink()
        let running = try NamedService(
            ["--trusted-proxies", "127.0.0.0/8"], logger: Logger(level: .info, sink: log))
        let image = FakeResponse.image(ImageFixture.png.array, type: "image/png")
        running.origin.serve("/library/a.png", image)
        running.origin.serve("/library/b.png", .redirect(to: "/library/c.png"))
        running.origin.serve("/library/c.png", image)
        running.origin.serve("/library/d.png", image)
        let fields =
            "traceparent: 00-\(Self.traceID)-00f067aa0ba902b7-\(flags)\r\ntracestate: a=b\r\nbaggage: c=d\r\n"
        for name in ["traced:a.png", "traced:b.png", "photos:d.png"] {
            #expect(try await running.send("/thumbnail?url=\(name)&w=32", fields).status == 200)
        }
        let requests = running.origin.requests
        #expect(requests.map(\.target) == ["/library/a.png", "/library/b.png", "/library/c.png", "/library/d.png"])
        let told = requests.map { $0.value("traceparent") }
        #expect(told[3] == nil)
        for text in told.prefix(3) {
            let context = try #require(text.flatMap { TraceContext(traceparent: $0) })
            #expect(context.traceID.text == Self.traceID && context.traceparent.hasSuffix("-" + flags))
            #expect(context.spanID.text != "00f067aa0ba902b7")
        }
        #expect(requests.allSatisfy { $0.value("tracestate") == nil && $0.value("baggage") == nil })
        await running.stop()
        #expect(log.lines.count { $0.fields.contains { $0.0 == "traceId" && $0.1 == .string(Self.traceID) } } == 3)
    }

    @Test func `a stranger's trace is not forwarded, and a redirect to another host receives no trace`() async throws {
        let running = try NamedService()
        let other = try FakeOrigin(address: "127.0.0.3")
        defer { other.stop() }
        running.origin.serve("/library/a.png", .redirect(to: other.url("/b.png")))
        let fields = "traceparent: 00-\(Self.traceID)-00f067aa0ba902b7-01\r\n"
        _ = try await running.send("/thumbnail?url=traced:a.png&w=32", fields)
        let told = try #require(running.origin.requests.first?.value("traceparent"))
        #expect(!told.contains(Self.traceID) && told.hasSuffix("-00"))
        #expect(other.requests.allSatisfy { $0.value("traceparent") == nil })
        await running.stop()
    }

    @Test func `secrets appear in no response, status or log`() async throws {
        let log = RecordingSink()
        let running = try NamedService(logger: Logger(level: .debug, sink: log))
        running.origin.serve("/library/away", .redirect(to: "http://127.0.0.2:1/"))
        running.origin.serve("/library/broken", .closing)
        var texts: [String] = []
        for path in ["away", "broken", "none"] {
            texts.append(try await running.send("/thumbnail?url=photos:\(path)&w=32").text)
        }
        for path in ["/status", "/downloads", "/metrics", "/cache"] {
            texts.append(try await running.send(path, to: .admin).text)
        }
        await running.stop()
        texts += log.lines.map { "\($0)" }
        #expect(texts.count > 9)
        for text in texts { #expect(!text.contains("s3cret")) }
    }
}

/// The service with a private named origin and no allowed networks.
private struct NamedService {
    let origin: FakeOrigin
    private let service: Service
    private let settings: Settings

    init(_ arguments: [String] = [], folder: String = "/", logger: Logger = .silent) throws {
        let origin = try FakeOrigin()
        self.origin = origin
        settings = try SettingsLoader.load(
            arguments: [
                "--config", "a.json5", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0", "--log-level",
                "debug", "--decode-in-process", "on",
            ] + arguments, environment: ["TOKEN": "t0p-s3cret"]
        ) { _ in
            """
            { origins: {
              photos: { url: "\(origin.url("/library"))", credentials: { bearer: { env: "TOKEN" } } },
              local: { folder: "\(folder)" },
              traced: { url: "\(origin.url("/library"))", trace: true },
            } }
            """
        }
        service = try Service(settings, logger: logger)
    }

    func connect(to listener: RunningService.Listener = .public) throws -> RawHTTPClient {
        try RawHTTPClient(port: listener == .admin ? service.adminServer.port : service.publicServer.port)
    }

    func send(
        _ target: String, _ fields: String = "", method: String = "GET", to listener: RunningService.Listener = .public
    ) async throws -> RawHTTPClient.Response {
        let client = try connect(to: listener)
        defer { client.close() }
        client.send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        return try await client.response(isHead: false)
    }

    func stop() async {
        await service.shutDown(settings)
        origin.stop()
    }
}
