import Coordination
import Downloading
import HTTPServing
import HTTPTypes
import TestSupport
import Testing
import Text
import ThumbnailPipeline

@testable import Composition
@testable import Settings

/// The service with more work than it can do.
@Suite(.timeLimit(.minutes(1)))
struct OverloadTests {
    @Test func `misses are rejected while others wait too long; hits, health and metrics are served`() async throws {
        let time = ManualTimekeeper()
        try await withService(["--render-workers", "1"], time: time) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=600"))
            #expect(try await running.thumbnail("/a.jpg").status == 200)
            let workers = running.service.lanes.small
            let gate = ThreadGate()
            defer { gate.open() }
            let occupied = Task { try await workers.run { _ in gate.pass() } }
            await gate.arrivals(1)
            async let waiting = running.thumbnail("/a.jpg", "w=31")
            #expect(await eventually { workers.queuedCount == 1 })
            time.advance(by: .seconds(2))

            let hits = running.origin.hits
            let rejected = try await running.thumbnail("/b.jpg")
            #expect(rejected.status == 503)
            #expect(rejected.headerFields[.retryAfter] == "2")
            #expect(rejected.text.contains("\"code\":\"overloaded\""))
            #expect(try await running.thumbnail("/a.jpg").status == 200)
            #expect(try await running.send("GET", "/health/live").status == 200)
            #expect(try await running.send("GET", "/health/ready").status == 200)
            #expect(try await running.metric("alula_overload_refusals_total") == 1)
            #expect(try await running.metric("alula_queue_seconds") == 2)
            #expect(try await running.send("GET", "/status", to: .admin).status == 200)
            #expect(running.origin.hits == hits)

            gate.open()
            #expect(try await waiting.status == 200)
            try await occupied.value
            running.origin.serve("/b.jpg", .image(ImageFixture.jpeg.array))
            #expect(try await running.thumbnail("/b.jpg").status == 200)
        }
    }

    @Test func `a result with too many pixels for its format is rejected, and a placeholder is not made`() async throws
    {
        try await withService(["--max-output-pixels", "2000", "--max-output-pixels-slow", "1000"]) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            func status(_ path: String, _ query: String) async throws -> Int {
                try await running.thumbnail(path, query + "&fit=fill&enlarge=1").status
            }
            #expect(try await status("/a.jpg", "w=40&h=50&format=webp") == 200)
            #expect(try await status("/a.jpg", "w=40&h=51&format=webp") == 422)
            #expect(try await status("/a.jpg", "w=40&h=25&format=avif") == 200)
            let rejected = try await running.thumbnail("/a.jpg", "w=40&h=26&fit=fill&enlarge=1&format=avif")
            #expect(rejected.status == 422 && rejected.text.contains("\"code\":\"too_many_pixels\""))
            #expect(try await status("/gone.jpg", "w=40&h=25&placeholder=red&format=avif") == 200)
            #expect(try await status("/gone.jpg", "w=40&h=26&placeholder=red&format=avif") == 404)
            #expect(try await status("/gone.jpg", "w=40&h=26&placeholder=red&format=png") == 200)
        }
    }

    @Test func `if requests take all connections, new ones are closed at once and operators are served`() async throws {
        try await withService(["--max-connections", "4"]) { running in
            let gate = Gate()
            defer { gate.open() }
            running.origin.serve("/slow.jpg", FakeResponse.image(ImageFixture.jpeg.array).held(at: gate))
            let clients = try (0..<4).map { _ in try running.connect() }
            for client in clients { client.send("GET \(running.target("/slow.jpg")) HTTP/1.1\r\nHost: alula\r\n\r\n") }
            await gate.arrivals(1)
            let isWaited = await eventually {
                let text = (try? await running.send("GET", "/downloads", to: .admin).text) ?? ""
                return text.split(separator: "\"receipts\":[").last?.split(separator: ",").count == 4
            }
            #expect(isWaited)
            for _ in 0..<10 { #expect(try await running.connect().remainder().isEmpty) }
            for path in ["/health/live", "/health/ready", "/metrics", "/status"] {
                #expect(try await running.send("GET", path, to: .admin).status == 200)
            }
            gate.open()
            for client in clients { #expect(try await client.response().status == 200) }
        }
    }

    @Test func `a hundred silent connections do not exclude other clients`() async throws {
        try await withService(["--max-connections", "100"]) { running in
            let port = running.service.publicServer.port
            let silent = try (0..<100).map { _ in try RawHTTPClient(port: port, ownAddress: 2) }
            #expect(await eventually { running.service.publicServer.connectionCount == 100 })
            for _ in 0..<10 { #expect(try await running.send("GET", "/health/live").status == 200) }
            withExtendedLifetime(silent) {}
        }
    }

    @Test func `the descriptor limit is raised at the start, and one too low for the settings stops it`() throws {
        let arguments = [
            "serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0", "--max-connections", "500",
        ]
        let raised = AlulaProcess(arguments, limit: "-Sn 100")
        #expect(try raised.start(until: "adminPort").contains("\"message\":\"listening\""))
        #expect(raised.terminate() == 0)
        let stopped = AlulaProcess(arguments, limit: "-n 500")
        let text = try stopped.start(until: "ulimit -n")
        #expect(text.contains("maxConnections") && text.contains("the system grants 500"))
        #expect(stopped.end() == 69)
    }

    @Test func `a system with few descriptors gets fewer connections, unless their number is set`() throws {
        let process = AlulaProcess(
            ["serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0"], limit: "-n 1024")
        let text = try process.start(until: "open file limit too low")
        #expect(text.contains(#""message":"listening""#) && text.contains(#""usual":4096"#))
        #expect(process.terminate() == 0)
        var settings = Settings()
        settings.renderWorkers = 2
        try DescriptorLimit.fit(&settings, into: 100_000)
        #expect(settings.publicListener.maximumConnections == 4_096)
        try DescriptorLimit.fit(&settings, into: 1_024)
        let fitting = settings.publicListener.maximumConnections
        #expect((64..<1_024).contains(fitting))
        try DescriptorLimit.fit(&settings, into: 1_024)
        #expect(settings.publicListener.maximumConnections == fitting)
        #expect(throws: DescriptorLimit.TooLow.self) { try DescriptorLimit.fit(&settings, into: 256) }
        try settings.override("maxConnections", with: "1024")
        #expect(throws: DescriptorLimit.TooLow.self) { try DescriptorLimit.fit(&settings, into: 1_000) }
    }

    @Test func `a reload that needs more descriptors than are left names the restart`() throws {
        let current = Settings()
        var new = current
        try new.override("maxActiveDownloads", with: "400")
        try new.override("maxQueuedDownloads", with: "7")
        for (granted, changed) in [
            (100_000, ["maxActiveDownloads", "maxQueuedDownloads"]), (5_000, ["maxQueuedDownloads"]),
        ] {
            var reloaded = try ReloadedSettings(current, changedTo: new)
            DescriptorLimit.fit(&reloaded, after: current, into: granted)
            #expect(reloaded.changed == changed)
            #expect(reloaded.needingRestart == (changed.count == 2 ? [] : ["maxActiveDownloads"]))
            #expect(reloaded.settings.downloads.maximumActiveDownloads == (changed.count == 2 ? 400 : 32))
            #expect(reloaded.settings.downloads.maximumQueuedDownloads == 7)
        }
    }

    @Test func `one address cannot take all connections if a setting limits it`() async throws {
        try await withService(["--max-connections-per-address", "2"]) { running in
            let clients = try (0..<2).map { _ in try running.connect() }
            #expect(await eventually { running.service.publicServer.connectionCount == 2 })
            #expect(try await running.connect().remainder().isEmpty)
            #expect(try await running.send("GET", "/metrics", to: .admin).status == 200)
            withExtendedLifetime(clients) {}
        }
    }
}
