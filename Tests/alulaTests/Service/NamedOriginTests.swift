import Coordination
import Downloading
import HTTPServing
import HTTPTypes
import Memory
import Telemetry
import TestSupport
import Testing

@testable import alula

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

    @Test func `an origin that keeps failing is refused with the time to come back, and shown`() async throws {
        let running = try NamedService()
        for number in 0..<5 {
            running.origin.serve("/library/\(number)", .closing)
            #expect(try await running.send("/thumbnail?url=photos:\(number)&w=32").status == 502)
        }
        let answer = try await running.send("/thumbnail?url=photos:a&w=32")
        #expect(answer.status == 503)
        #expect(answer.text.contains("origin_suspended"))
        #expect(answer.headerFields[.retryAfter] == "5")
        let status = try await running.send("/status", toOperators: true).text
        #expect(status.contains(#""origin":"http://127.0.0.1:\#(running.origin.port)","state":"suspended""#))
        let metrics = try await running.send("/metrics", toOperators: true).text
        #expect(metrics.contains("alula_origins{state=\"suspended\"} 1\n"))
        #expect(metrics.contains("alula_origin_suspensions_total 1\n"))
        #expect(!metrics.contains("127.0.0.1"))
        await running.stop()
    }

    @Test func `secrets appear in no answer, status or log`() async throws {
        let log = RecordingSink()
        let running = try NamedService(logger: Logger(level: .debug, sink: log))
        running.origin.serve("/library/away", .redirect(to: "http://127.0.0.2:1/"))
        running.origin.serve("/library/broken", .closing)
        var texts: [String] = []
        for path in ["away", "broken", "none"] {
            texts.append(try await running.send("/thumbnail?url=photos:\(path)&w=32").text)
        }
        for path in ["/status", "/downloads", "/metrics", "/cache"] {
            texts.append(try await running.send(path, toOperators: true).text)
        }
        await running.stop()
        texts += log.lines.map { "\($0)" }
        #expect(texts.count > 9)
        for text in texts { #expect(!text.contains("s3cret")) }
    }
}

/// Keeps log lines.
private final class RecordingSink: LogSink {
    private let state = Locked<[LogLine]>([])

    var lines: [LogLine] { state.withLock { $0 } }

    func write(_ line: LogLine) { state.withLock { $0.append(line) } }
}

/// The service with a private named origin and no allowed networks.
private struct NamedService {
    let origin: FakeOrigin
    private let service: Service
    private let settings: Settings

    init(folder: String = "/", logger: Logger = .silent) throws {
        let origin = try FakeOrigin()
        self.origin = origin
        settings = try SettingsLoader.load(
            arguments: [
                "--config", "a.json5", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0", "--log-level",
                "debug", "--decode-in-process", "on",
            ], environment: ["TOKEN": "t0p-s3cret"]
        ) { _ in
            """
            { origins: {
              photos: { url: "\(origin.url("/library"))", credentials: { bearer: { env: "TOKEN" } } },
              local: { folder: "\(folder)" },
            } }
            """
        }
        service = try Service(settings, logger: logger)
    }

    func send(_ target: String, toOperators: Bool = false) async throws -> RawHTTPClient.Response {
        let port = toOperators ? service.operatorServer.port : service.publicServer.port
        let client = try RawHTTPClient(port: port)
        defer { client.close() }
        client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try await client.response(isHead: false)
    }

    func stop() async {
        await service.shutDown(settings)
        origin.stop()
    }
}
