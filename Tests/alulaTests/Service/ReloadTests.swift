import Coordination
import Crypto
import Dialects
import DiskCaching
import Downloading
import HTTPTypes
import TestSupport
import Testing

@testable import Composition

/// `POST /reload` in the whole service; SIGHUP has the same effect.
@Suite(.timeLimit(.minutes(1)))
struct ReloadTests {
    private let file = Locked("{}")

    private func write(_ text: String) { file.withLock { $0 = text } }

    private func withReloadable(
        _ text: String, _ arguments: [String] = [], _ body: (RunningService) async throws -> Void
    ) async throws {
        write(text)
        let running = try RunningService(["--access-log", "off"] + arguments, file: file)
        running.origin.serve(
            "/a.png", .image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60"))
        do {
            try await body(running)
            await running.stop()
        } catch {
            await running.stop()
            throw error
        }
    }

    @discardableResult
    private func reload(_ running: RunningService, _ text: String) async throws -> RawHTTPClient.Response {
        write(text)
        return try await running.send("POST", "/reload", to: .admin)
    }

    private static let keys = ["0123456789abcdef", "fedcba9876543210"].map { String(repeating: $0, count: 4) }

    private func signed(_ target: String, _ key: String) throws -> String {
        URLSigner.sign(target: target, key: try #require(Hexadecimal.decode(key)))
    }

    @Test func `a key is rotated without a restart, and a connection does not repeat responses of the old one`()
        async throws
    {
        let (old, new) = (Self.keys[0], Self.keys[1])
        try await withReloadable("{ signingKeys: ['\(old)'] }") { running in
            let target = running.target("/a.png")
            let client = try running.connect()
            let first = try signed(target, old)
            for _ in 0..<3 {
                client.send("GET \(first) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await client.response().status == 200)
            }
            #expect(try await running.send("GET", try signed(target, new)).status == 403)
            let answer = try await reload(running, "{ signingKeys: ['\(old)', '\(new)'] }")
            #expect(answer.status == 200 && answer.text == #"{"changed":["signingKeys"],"needsRestart":[]}"#)
            #expect(try await running.send("GET", try signed(target, new)).status == 200)
            client.send("GET \(first) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.response().status == 200)
            try await reload(running, "{ signingKeys: ['\(new)'] }")
            client.send("GET \(first) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.response().status == 403)
            #expect(try await running.send("GET", try signed(target, new)).status == 200)
            #expect(running.origin.hits("/a.png") == 1, "the caches keep their content")
        }
    }

    @Test func `an origin with another URL is another origin, and others keep their cached images`() async throws {
        try await withReloadable("{}") { running in
            func origins(_ base: String) -> String {
                "{ origins: { moved: { url: '\(running.origin.url(base))' }, same: { url: '\(running.origin.url("/"))' } } }"
            }
            running.origin.serve("/b/a.png", .image(ImageFixture.png.array, type: "image/png"))
            try await reload(running, origins("/"))
            for name in ["moved", "same"] {
                #expect(try await running.send("GET", "/thumbnail?url=\(name):a.png&w=8").status == 200)
            }
            #expect(running.origin.hits("/a.png") == 2)
            #expect(try await reload(running, origins("/b/")).text == #"{"changed":["origins"],"needsRestart":[]}"#)
            for name in ["moved", "same"] {
                #expect(try await running.send("GET", "/thumbnail?url=\(name):a.png&w=8").status == 200)
            }
            #expect(running.origin.hits("/a.png") == 2 && running.origin.hits("/b/a.png") == 1)
            try await reload(running, "{}")
            #expect(try await running.send("GET", "/thumbnail?url=same:a.png&w=8").status == 400)
        }
    }

    @Test func `a request in progress keeps the settings that it began with`() async throws {
        try await withReloadable("{}") { running in
            let gate = Gate()
            running.origin.serve("/slow.png", .image(ImageFixture.png.array, type: "image/png").held(at: gate))
            try await reload(
                running, "{ origins: { shop: { url: '\(running.origin.url("/"))' } }, presets: { card: { w: 8 } } }")
            async let answer = running.send("GET", "/thumbnail?url=shop:slow.png&preset=card&format=png")
            await gate.arrivals(1)
            try await reload(running, "{ presets: { card: { w: 4 } } }")
            gate.open()
            let response = try await answer
            #expect(response.status == 200 && response.body.dropFirst(16).prefix(4) == [0, 0, 0, 8])
            #expect(try await running.send("GET", "/thumbnail?url=shop:slow.png&preset=card").status == 400)
        }
    }

    @Test func `a source that the rules forbid now is not served from the caches`() async throws {
        try await withReloadable("{}") { running in
            let target = running.target("/a.png")
            #expect(try await running.send("GET", target).status == 200)
            try await reload(running, "{ allowedSources: ['https://example.com/*'] }")
            #expect(try await running.send("GET", target).status == 403)
            try await reload(running, "{ allowedSources: ['http://127.0.0.1:*/*', 'https://example.com/*'] }")
            #expect(try await running.send("GET", target).status == 200)
        }
    }

    @Test(arguments: [
        ("{ sizes: [1,", "alula.json5:1:13: "),
        ("{\n  sizes: ['x'],\n}", "alula.json5:2:10: sizes in the settings file"),
        ("{ nope: 1 }", "alula.json5:1:3: nope in the settings file"),
        ("{ decodedCachePreferred: '1GiB' }", "alula.json5:1:26: decodedCachePreferred"),
    ])
    func `a wrong file changes nothing, and the error has its position`(text: String, start: String) async throws {
        try await withReloadable("{ sizes: [32] }") { running in
            let answer = try await reload(running, text)
            #expect(answer.status == 422)
            #expect(answer.text.contains(#""code":"bad_settings""#) && answer.text.contains(start), "\(answer.text)")
            #expect(try await running.thumbnail("/a.png", "w=32").status == 200)
            #expect(try await running.thumbnail("/a.png", "w=33").status == 400)
            let metrics = try await running.send("GET", "/metrics", to: .admin).text
            #expect(metrics.contains(#"alula_reloads_total{result="failed"} 1"#))
            #expect(metrics.contains(#"alula_reloads_total{result="ok"} 0"#))
        }
    }

    @Test func `a change that needs a restart is named, and the rest applies`() async throws {
        try await withReloadable("{}") { running in
            let answer = try await reload(running, "{ requestTimeout: '3s', sizes: [16], webpEffort: 1 }")
            let expected =
                #"{"changed":["sizes"],"needsRestart":["webpEffort","requestTimeout"],"#
                + #""detail":"needs a restart: webpEffort, requestTimeout"}"#
            #expect(answer.status == 200 && answer.text == expected, "\(answer.text)")
            #expect(try await running.thumbnail("/a.png", "w=17").status == 400)
            let status = try await running.send("GET", "/status", to: .admin).text
            #expect(status.contains(#"{"name":"sizes","value":"16","source":"file"}"#))
            #expect(status.contains(#"{"name":"requestTimeout","value":"15s","source":"default"}"#))
            #expect(try await running.metric("alula_reloads_total") == 1)
        }
    }

    @Test func `a smaller cache evicts, and a new token applies at once`() async throws {
        try await withReloadable("{}") { running in
            #expect(try await running.thumbnail("/a.png").status == 200)
            let empty = #""result":{"bytes":0,"#
            #expect(!(try await running.send("GET", "/cache", to: .admin).text.contains(empty)))
            try await reload(
                running, "{ resultCacheCapacity: 0, resultCachePreferred: 0, adminToken: 'one-two-three' }")
            #expect(try await running.send("GET", "/status", to: .admin).status == 401)
            let bearer = "Authorization: Bearer one-two-three\r\n"
            #expect(try await running.send("GET", "/cache", bearer, to: .admin).text.contains(empty))
        }
    }

    @Test func `streams of events end when the token changes`() async throws {
        try await withReloadable("{ adminToken: 'one-two-three' }") { running in
            let bearer = "Authorization: Bearer one-two-three\r\n"
            let client = try running.connect(to: .admin)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\(bearer)\r\n")
            #expect(try await client.response(isHead: true).status == 200)
            write("{ adminToken: 'two-three-four' }")
            #expect(try await running.send("POST", "/reload", bearer, to: .admin).status == 200)
            _ = try await client.remainder()
            #expect(try await running.send("GET", "/events", bearer, to: .admin).status == 401)
        }
    }

    @Test func `the capacities of the disk cache and the bounds of waiting work change`() async throws {
        let folder = TemporaryFolder()
        try await withReloadable("{}", ["--source-cache-path", folder.path]) { running in
            let answer = try await reload(
                running, "{ sourceCacheDisk: '3MiB', resultCacheDisk: '5MiB', maxQueuedDownloads: 0 }")
            let changed = #"{"changed":["maxQueuedDownloads","sourceCacheDisk","resultCacheDisk"],"needsRestart":[]}"#
            #expect(answer.text == changed, "\(answer.text)")
            let shares = try #require(running.service.disk?.statistics.partitions)
            #expect(shares[.source]?.capacity == 3 << 20 && shares[.result]?.capacity == 5 << 20)
            #expect(try await running.thumbnail("/a.png").status == 200)
        }
    }

    @Test func `the origin of the result store stays as it was until a restart`() async throws {
        let (one, two) = (TemporaryFolder(), TemporaryFolder())
        func text(_ folder: TemporaryFolder) -> String {
            "{ resultStore: 'store', origins: { store: { folder: '\(folder.path)', write: true } } }"
        }
        try await withReloadable(text(one)) { running in
            let answer = try await reload(running, text(two))
            #expect(answer.text.contains(#""needsRestart":["origins.store"]"#), "\(answer.text)")
            #expect(running.service.engine.downloader.rules["store"]?.origin?.location == .folder(path: one.path))
        }
    }
}
