import Coordination
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text

@testable import Composition
@testable import Settings

/// Named origins that receive clients' fields: each client has separate sources.
@Suite(.timeLimit(.minutes(2)))
struct PrivateSourceTests {
    @Test func `each client gets its own image, and equal fields share one fetch`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            let alice = try await running.get("a", as: "alice")
            let bob = try await running.get("a", as: "bob")
            #expect(try Self.color(alice) == [200, 0, 0] && Self.color(bob) == [0, 0, 200])
            #expect(running.origin.hits("/a") == 2)
            let again = try await running.get("a", as: "alice")
            #expect(again.headerFields[.cacheStatus] == "alula-result;hit" && again.body == alice.body)
            let smaller = try await running.get("a", as: "bob", "w=16&format=png")
            #expect(try Self.color(smaller) == [0, 0, 200])
            #expect(running.origin.hits("/a") == 2)
        }
    }

    @Test(arguments: [
        (nil, "private, max-age=0", 2), ("max-age=600", "private, max-age=600", 1),
        ("private, max-age=600", "private, max-age=600", 1), ("s-maxage=600", "public, max-age=600", 1),
        ("public, max-age=600", "public, max-age=600", 1), ("public", "public, max-age=0", 2),
        ("no-store", "no-store", 2), ("private, no-cache", "private, max-age=0", 2),
    ])
    func `a response is private and needs a stated lifetime, unless its origin says otherwise`(
        control: String?, expected: String, hits: Int
    ) async throws {
        try await withGuardedOrigin(control: control) { running in
            for _ in 0..<2 {
                let answer = try await running.get("a", as: "alice", "w=32&format=auto")
                #expect(answer.status == 200)
                #expect(answer.headerFields[.cacheControl] == expected)
                #expect(answer.headerFields[.vary] == "Accept, Authorization, Cookie, X-Team")
            }
            #expect(running.origin.hits("/a") == hits)
        }
    }

    @Test func `without a stated lifetime each request is confirmed, and the pixels are reused`() async throws {
        try await withGuardedOrigin { running in
            let first = try await running.get("a", as: "alice")
            let second = try await running.get("a", as: "alice")
            #expect(second.body == first.body)
            let conditions = running.origin.requests.map { $0.value("If-None-Match") }
            #expect(conditions == [nil, "\"alice\""])
            #expect(
                second.headerFields[.cacheStatus]?.hasPrefix("alula-result;hit, alula-source;fwd=stale;fwd-status=304")
                    == true)
            #expect(try await running.metric("alula_renders_total") == 1)
        }
    }

    @Test func `the origin rejects each client for itself`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            for _ in 0..<2 {
                let stranger = try await running.get("a", as: nil)
                #expect(stranger.status == 401 && stranger.text.contains(#""code":"source_unauthorized""#))
                #expect(stranger.headerFields[.wwwAuthenticate] == "Bearer realm=\"images\"")
                #expect(stranger.headerFields[.vary] == "Authorization, Cookie, X-Team")
                #expect(stranger.headerFields[.cacheControl] == "no-store")
                let mallory = try await running.get("a", as: "mallory")
                #expect(mallory.status == 403 && mallory.text.contains(#""code":"source_forbidden""#))
                #expect(mallory.headerFields[.wwwAuthenticate] == nil)
                #expect(try await running.get("a", as: "alice").status == 200)
            }
        }
    }

    @Test func `a client whose access ends gets no stale copy`() async throws {
        let time = ManualTimekeeper()
        try await withGuardedOrigin(control: "max-age=1, stale-while-revalidate=60, stale-if-error=600", time: time) {
            running in
            let first = try await running.get("a", as: "alice")
            #expect(first.status == 200)
            #expect(try await running.get("a", as: "bob").status == 200)
            running.origin.serveOthers { Self.answer(to: $0, as: ["alice": 403, "bob": 500], nil) }
            time.advance(by: .seconds(62))
            #expect(try await running.get("a", as: "alice").status == 403)
            // A failure of the origin does not deny access.
            #expect(try await running.get("a", as: "bob").status == 200)
            // Nor within the window for background revalidation.
            running.origin.serveOthers { Self.answer(to: $0, "max-age=1, stale-while-revalidate=60") }
            time.advance(by: .seconds(10))
            #expect(try await running.get("a", as: "alice").status == 200)
            running.origin.serveOthers { Self.answer(to: $0, as: ["alice": 403], nil) }
            time.advance(by: .seconds(2))
            let hits = running.origin.hits("/a")
            #expect(try await running.get("a", as: "alice").status == 200)
            await running.origin.reachedHits(hits + 1, of: "/a")
            #expect(await eventually { running.service.downloader.fetches.isEmpty })
            #expect(try await running.get("a", as: "alice").status == 403)
        }
    }

    @Test func `conditions, HEAD, facts and cached answers reveal nothing to another client`() async throws {
        try await withGuardedOrigin(["--client-cache-control", "honour"], control: "max-age=600") { running in
            let alice = try await running.get("a", as: "alice")
            let eTag = try #require(alice.headerFields[.eTag])
            #expect(try await running.get("a", as: "alice", fields: "If-None-Match: \(eTag)\r\n").status == 304)
            for condition in ["If-None-Match: \(eTag)\r\n", "If-None-Match: *\r\n"] {
                #expect(try await running.get("a", as: "mallory", fields: condition).status == 403)
                #expect(try await running.get("a", as: nil, fields: condition).status == 401)
            }
            #expect(try await running.get("a", as: "bob", fields: "If-None-Match: \(eTag)\r\n").status == 200)
            for (client, status) in [("alice", 200), ("mallory", 403)] {
                let head = try await running.send(
                    "HEAD", "/thumbnail?url=guarded:a&w=32&format=png", Self.fields(client))
                #expect(head.status == status)
            }
            let facts = try await running.send("GET", "/info?url=guarded:a&include=color", Self.fields("alice"))
            #expect(facts.status == 200 && facts.text.contains("#c80000"))
            #expect(facts.headerFields[.vary] == "Authorization, Cookie, X-Team")
            #expect(facts.headerFields[.cacheControl] == "private, max-age=600")
            #expect(try await running.send("GET", "/info?url=guarded:a", Self.fields("mallory")).status == 403)
            #expect(try await running.send("GET", "/info?url=guarded:a", Self.fields("bob")).text.contains("png"))
            let cached = "Cache-Control: only-if-cached\r\n" + Self.fields("carol")
            let answer = try await running.send("GET", "/thumbnail?url=guarded:a&w=32&format=png", cached)
            #expect(answer.status == 504)
        }
    }

    @Test func `clients on one connection never get each other's response`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            let client = try running.connect()
            defer { client.close() }
            for name in ["alice", "alice", "bob", "alice", "bob", "mallory", "bob"] {
                client.send(
                    "GET /thumbnail?url=guarded:a&w=32&format=png HTTP/1.1\r\nHost: localhost\r\n\(Self.fields(name))\r\n"
                )
                let answer = try await client.response()
                switch name {
                case "alice": #expect(try Self.color(answer) == [200, 0, 0])
                case "bob": #expect(try Self.color(answer) == [0, 0, 200])
                default: #expect(answer.status == 403)
                }
            }
        }
    }

    @Test func `requests at the same time join only those with the same fields`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            let gate = Gate()
            running.origin.serveOthers { Self.answer(to: $0, "max-age=600").held(at: gate) }
            let callers = ["alice", "bob", "alice", "alice", "bob", "mallory"].map { name in
                Task { (name, try await running.get("a", as: name)) }
            }
            await gate.arrivals(3)
            gate.open()
            for caller in callers {
                let (name, answer) = try await caller.value
                #expect(answer.status == (name == "mallory" ? 403 : 200))
                if name != "mallory" {
                    #expect(try Self.color(answer) == (name == "alice" ? [200, 0, 0] : [0, 0, 200]))
                }
            }
            #expect(running.origin.hits("/a") == 3)
        }
    }

    @Test func `only named fields and cookies are sent, and only to their origin`() async throws {
        let elsewhere = try FakeOrigin(address: "127.0.0.2")
        defer { elsewhere.stop() }
        elsewhere.serve(
            "/b", .image(Self.image("alice"), type: "image/png").with("Cache-Control", "public, max-age=600"))
        try await withGuardedOrigin { running in
            running.origin.serve("/away", .redirect(to: elsewhere.url("/b")))
            let fields =
                "Cookie: theme=dark; session=s1\r\nX-Team: blue\r\nX-Other: no\r\nVia: 1.1 a\r\n"
                + "Cookie: a=\"b\"; session=s2\r\n"
            #expect(try await running.get("a", as: "alice", fields: fields).status == 200)
            let request = try #require(running.origin.requests.first)
            #expect(request.value("Authorization") == "Bearer alice")
            #expect(request.value("Cookie") == "session=s1; session=s2" && request.value("X-Team") == "blue")
            #expect(request.value("X-Other") == nil && request.value("Via") == nil)
            for _ in 0..<2 {
                let away = try await running.get("away", as: "alice", fields: fields)
                // The other server's directives do not apply to the origin.
                #expect(away.status == 200 && away.headerFields[.cacheControl] == "private, max-age=0")
            }
            #expect(running.origin.hits("/away") == 2)
            for request in elsewhere.requests {
                #expect(
                    request.fields.allSatisfy { !["authorization", "cookie", "x-team"].contains($0.name.lowercased()) })
            }
            let plain = running.origin.url("/a")
            #expect(try await running.send("GET", "/thumbnail?url=\(plain)&w=32", Self.fields("alice")).status == 502)
            #expect(running.origin.requests.last?.value("Authorization") == nil)
            #expect(try await running.send("GET", "/thumbnail?url=other:a&w=32", Self.fields("alice")).status == 502)
            #expect(running.origin.requests.last?.value("Authorization") == nil)
        }
    }

    @Test func `a forwarded field of more than 4 KiB is rejected, and another one is not`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            let long = String(repeating: "x", count: 4_097)
            let answer = try await running.get("a", as: "alice", fields: "X-Team: \(long)\r\n")
            #expect(answer.status == 431 && answer.text.contains("headers_too_large") && answer.text.contains("X-Team"))
            #expect(running.origin.requests.isEmpty)
            let cookies = "Cookie: theme=\(long); session=1\r\nX-Other: \(long)\r\n"
            #expect(try await running.get("a", as: "alice", fields: cookies).status == 200)
            #expect(try await running.get("a", as: "alice", fields: "X-Team: \(long.dropLast())\r\n").status == 200)
        }
    }

    @Test func `a purge by URL or tag removes the copies of all clients`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            for purge in ["url=guarded:a", "tag=blue"] {
                let before = running.origin.hits("/a")
                for name in ["alice", "bob"] {
                    #expect(try await running.get("a", as: name, "w=32&format=png&tag=blue").status == 200)
                }
                #expect(running.origin.hits("/a") == before + 2)
                let removed = try await running.send("DELETE", "/cache?\(purge)", to: .admin)
                // The file, the pixels and the result of both clients.
                #expect(removed.text.hasPrefix(#"{"entries":6,"#), "\(removed.text)")
            }
            let hits = running.origin.hits("/a")
            for name in ["alice", "bob"] { _ = try await running.get("a", as: name) }
            #expect(running.origin.hits("/a") == hits + 2)
        }
    }

    @Test func `a watermark of a guarded origin makes the result private`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            running.origin.serve(
                "/open",
                .image(
                    ImageFixture.file(.plain(PixelSize(width: 64, height: 48), [0, 90, 0]), as: .png), type: "image/png"
                )
                .with("Cache-Control", "public, max-age=900"))
            let target = "/thumbnail?url=other:open&w=32&format=png&watermark=guarded:a&watermarkScale=1"
            let alice = try await running.send("GET", target, Self.fields("alice"))
            let bob = try await running.send("GET", target, Self.fields("bob"))
            #expect(try Self.color(alice) == [200, 0, 0] && Self.color(bob) == [0, 0, 200])
            #expect(alice.headerFields[.cacheControl] == "private, max-age=600")
            #expect(alice.headerFields[.vary] == "Authorization, Cookie, X-Team")
            #expect(try await running.send("GET", target, Self.fields("mallory")).status == 403)
            #expect(try await running.send("GET", target, "").status == 401)
        }
    }

    @Test(arguments: [("max-age=600", 0), ("s-maxage=600", 0), ("private, max-age=600", 0), ("public, max-age=600", 1)])
    func `only public sources of such an origin leave memory`(control: String, entries: Double) async throws {
        let folder = TemporaryFolder()
        try await withGuardedOrigin(["--source-cache-path", folder.path + "/cache"], control: control) { running in
            let alice = try await running.get("a", as: "alice")
            #expect(alice.status == 200)
            await running.service.disk?.settled()
            for share in ["sourceDisk", "resultDisk", "recordDisk"] {
                #expect(try await running.metric("alula_cache_entries{cache=\"\(share)\"}") == entries)
            }
            // Each client still gets only its own image.
            #expect(try Self.color(try await running.get("a", as: "bob")) == [0, 0, 200])
        }
    }

    @Test func `a list of renditions is its client's, and uploads and operators forward nothing`() async throws {
        try await withGuardedOrigin(control: "max-age=600") { running in
            func list(_ name: String) async throws -> (status: Int, fields: HTTPFields, text: String) {
                let body = #"{"url":"guarded:a","renditions":["w=16&format=png",{"name":"facts","include":"color"}]}"#
                let client = try running.connect()
                defer { client.close() }
                client.send(
                    "POST /thumbnails HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
                        + "\(Self.fields(name))Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                let answer = try await client.response(isHead: true)
                var text = ""
                while answer.status == 200, !text.hasSuffix("0\r\n\r\n") {
                    text += String(decoding: try await client.bytes(1), as: UTF8.self)
                }
                return (answer.status, answer.headerFields, text)
            }
            let alice = try await list("alice")
            #expect(alice.status == 200 && alice.fields[.cacheControl] == "no-store")
            #expect(alice.fields[.vary] == "Accept, Authorization, Cookie, X-Team")
            #expect(alice.text.contains("#c80000"))
            #expect(try await list("bob").text.contains("#0000c8"))
            #expect(try await list("mallory").status == 403)
            let hits = running.origin.requests.count
            let refresh = try await running.send("POST", "/refresh?url=guarded:a", Self.fields("alice"), to: .admin)
            #expect(refresh.text.contains("source_unauthorized"), "\(refresh.text)")
            #expect(running.origin.requests.count == hits + 1)
            #expect(running.origin.requests.last?.value("Authorization") == nil)
            #expect(
                try await running.get("a", as: "alice", "w=16&format=png").headerFields[.cacheStatus]
                    == "alula-result;hit")
        }
    }

    @Test func `the command sends a header to the origins that forward it`() async throws {
        let folder = TemporaryFolder()
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serveOthers { Self.answer(to: $0, nil) }
        folder.write(
            "alula.json5",
            Array("{ origins: { guarded: { url: '\(origin.url(""))', forward: ['Authorization', 'Cookie:a'] } } }".utf8)
        )
        let commands = WorkerPool(count: 1, maximumQueued: 8, name: "command-runs")
        func run(_ options: String...) async throws -> CommandRun {
            let arguments = ["thumbnail", "guarded:a", "-o", "-", "-f", "png", "--config", "alula.json5"] + options
            return try await commands.run { _ in try CommandRun(arguments, in: folder) }
        }
        let made = try await run("--header", "authorization: Bearer alice", "--header", "Cookie: a=1; b=2")
        #expect(made.status == 0, "\(made.errors)")
        #expect(try ImageReading.decode(SharedBytes(made.output)).pixel(x: 8, y: 8) == [200, 0, 0])
        #expect(origin.requests.last?.value("Cookie") == "a=1")
        let stranger = try await run()
        #expect(stranger.status == 1 && stranger.errors.contains("the origin requires credentials"))
        for (field, reason) in [("X-Team: a", "no named origin forwards X-Team"), ("Cookie", "expected NAME: VALUE")] {
            let rejected = try await run("--header", field)
            #expect(rejected.status == 2 && rejected.errors.contains(reason), "\(rejected.errors)")
        }
        commands.shutDown()
    }

    @Test func `the fields appear in no response, status, metric, event or log line`() async throws {
        let log = RecordingSink()
        try await withGuardedOrigin(control: "max-age=600", logger: Logger(level: .debug, sink: log)) { running in
            let client = try running.connect(to: .admin)
            defer { client.close() }
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await client.response(isHead: true)
            var texts: [String] = []
            for path in ["a", "none", "broken"] {
                running.origin.serve("/broken", .closing)
                let answer = try await running.get(path, as: "alice", fields: "Cookie: session=s3cret\r\n")
                texts.append("\(answer.headerFields)")
                if answer.status != 200 { texts.append(answer.text) }
            }
            for path in ["/status", "/downloads", "/metrics", "/cache"] {
                texts.append(try await running.send("GET", path, to: .admin).text)
            }
            var events = ""
            while !events.contains("guarded:broken") || !events.hasSuffix("}\n\n") {
                events += String(decoding: try await client.bytes(1), as: UTF8.self)
            }
            texts.append(events)
            texts += log.lines.map { "\($0)" }
            #expect(texts.count > 9)
            for text in texts { #expect(!text.contains("alice") && !text.contains("s3cret"), "\(text)") }
        }
    }
}
