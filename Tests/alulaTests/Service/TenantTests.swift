import Coordination
import Crypto
import Dialects
import HTTPTypes
import Recipes
import TestSupport
import Testing
import Text

@testable import Composition

/// Tenants in the whole service.
@Suite(.timeLimit(.minutes(1)))
struct TenantTests {
    private static let key = String(repeating: "0123456789abcdef", count: 4)
    private let file = Locked("{}")

    private func withTenants(
        _ tenants: @escaping (FakeOrigin) -> String, _ body: (RunningService) async throws -> Void
    ) async throws {
        let running = try RunningService(["--access-log", "off"], file: file)
        running.origin.serve(
            "/a.png", .image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60"))
        file.withLock { $0 = tenants(running.origin) }
        do {
            #expect(try await running.send("POST", "/reload", to: .admin).status == 200)
            try await body(running)
            await running.stop()
        } catch {
            await running.stop()
            throw error
        }
    }

    private func send(_ running: RunningService, _ target: String, host: String) async throws -> RawHTTPClient.Response
    {
        let client = try running.connect()
        defer { client.close() }
        client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        return try await client.response()
    }

    private func signed(_ target: String) throws -> String {
        URLSigner.sign(target: target + "&key=one", key: try #require(Hexadecimal.decode(Self.key)))
    }

    @Test func `a tenant gets nothing beyond its limits, even while it is cached for another`() async throws {
        try await withTenants({ origin in
            """
            { tenants: {
              free: { hosts: ["free.example"], shareSources: "on" },
              bounded: { hosts: ["bounded.example"], sizes: [32], maxSourceBytes: "10" },
              elsewhere: { hosts: ["elsewhere.example"], allowedSources: ["https://cdn.example/*"] },
              few: { hosts: ["few.example"], maxSourcePixels: 10 }, small: { hosts: ["small.example"], maxOutputPixels: 10 },
            } }
            """
        }) { running in
            let target = running.target("/a.png")
            for _ in 0..<2 { #expect(try await send(running, target, host: "free.example").status == 200) }
            #expect(running.origin.hits("/a.png") == 1)
            for host in ["other.example", "free.example"] {
                #expect(try await send(running, target, host: host).headerFields[.cacheStatus] == "alula-result;hit")
            }
            for (host, status) in [
                ("elsewhere.example", 403), ("bounded.example", 413), ("few.example", 422), ("small.example", 422),
            ] {
                #expect(try await send(running, target, host: host).status == status, "\(host)")
            }
            let size = try await send(running, running.target("/a.png", "w=33"), host: "bounded.example")
            #expect(size.status == 400 && size.text.contains("size_not_allowed"))
        }
    }

    @Test func `a foreign origin looks like a missing one, in images, facts and explanations`() async throws {
        try await withTenants({ origin in
            """
            { origins: { "shop-media": { url: "\(origin.url("/"))" } },
              tenants: { shop: { keys: [{ id: "one", secret: "\(Self.key)" }], origins: ["shop-media"] } } }
            """
        }) { running in
            let target = "/thumbnail?url=shop-media:a.png&w=32"
            #expect(try await running.send("GET", try signed(target)).status == 200)
            for target in [target, "/info?url=shop-media:a.png"] {
                let foreign = try await running.send("GET", target)
                let missing = try await running.send("GET", target.replacing("shop-media", with: "shop-music"))
                #expect(foreign.status == 400 && foreign.text.contains("bad_url"))
                let texts = [foreign, missing].map {
                    $0.text.replacing($0.headerFields[.xRequestID] ?? "-", with: "")
                }
                #expect(texts[0] == texts[1])
            }
            func explained(_ target: String) async throws -> String {
                try await running.send("GET", "/explain?target=\(URLEscape.encode(target))", to: .admin).text
            }
            let (foreign, own) = (try await explained(target), try await explained(try signed(target)))
            #expect(foreign.contains("bad_url") && !own.contains("bad_url"))
        }
    }

    /// `Age` and `Cache-Status` reveal nothing either.
    @Test func `a tenant learns nothing of the requests of others, also from the disk and of uploads`() async throws {
        let folder = TemporaryFolder()
        let running = try RunningService(
            ["--source-cache-path", folder.path + "/cache", "--uploads", "on"], file: file)
        file.withLock {
            $0 =
                "{ origins: { media: { url: 'ORIGIN' } }, tenants: { one: { hosts: ['one'] }, two: { hosts: ['two'] }, "
                + "three: { hosts: ['three'], maxSourceBytes: '1MiB' } } }"
        }
        #expect(try await running.send("POST", "/reload", to: .admin).status == 200)
        let answer = FakeResponse.image(ImageFixture.png.array, type: "image/png").with("Cache-Control", "max-age=60")
        for path in ["/a.png", "/b.png", "/c.png"] { running.origin.serve(path, answer.with("Age", "7")) }
        for (path, target) in [
            ("/a.png", running.target("/a.png")), ("/b.png", "/thumbnail?url=media:b.png&w=32"),
            ("/c.png", "/info?url=media:c.png"),
        ] {
            for (number, host) in ["one", "two", "three", "default"].enumerated() {
                let first = try await send(running, target, host: host)
                let status = first.headerFields[.cacheStatus] ?? ""
                #expect(first.status == 200)
                #expect(running.origin.hits(path) == number + 1, "\(target) \(host)")
                if !target.hasPrefix("/info") {
                    #expect(!status.contains("hit") && first.headerFields[.age] == "7", "\(status)")
                }
                await running.service.disk?.settled()
            }
        }
        for (host, isNew) in [("one", true), ("two", true), ("one", false)] {
            let client = try running.connect()
            defer { client.close() }
            client.send(
                "POST /thumbnail?w=20 HTTP/1.1\r\nHost: \(host)\r\nContent-Type: image/png\r\n"
                    + "Content-Length: \(ImageFixture.png.array.count)\r\n\r\n")
            client.send(ImageFixture.png.array)
            let upload = try await client.response()
            #expect(upload.status == 200)
            #expect(upload.headerFields[.cacheStatus]?.contains("alula-result;hit") == !isNew)
        }
        for (url, path) in [(running.origin.url("/a.png"), "/a.png"), ("media:b.png", "/b.png")] {
            let hits = running.origin.hits(path)
            #expect(try await running.send("DELETE", "/cache?url=\(url)", to: .admin).status == 200)
            await running.service.disk?.settled()
            let target = path == "/a.png" ? running.target(path) : "/thumbnail?url=media:b.png&w=32"
            for host in ["one", "two", "three", "default"] { _ = try await send(running, target, host: host) }
            #expect(running.origin.hits(path) == hits + 4, "a purge removes the copies of all tenants")
        }
        await running.stop()
    }

    @Test func `a purge of a source removes what tenants have of it`() async throws {
        try await withTenants({ origin in
            #"{ tenants: { shop: { hosts: ["shop.example"], allowedSources: ["\#(origin.url("/"))*"] } } }"#
        }) { running in
            let target = running.target("/a.png")
            for host in ["shop.example", "other.example", "shop.example"] {
                let answer = try await send(running, target, host: host)
                #expect(answer.status == 200)
            }
            #expect(running.origin.hits("/a.png") == 2, "rules of its own share nothing")
            let purge = "/cache?url=\(running.origin.url("/a.png"))"
            let purged = try await running.send("DELETE", purge, to: .admin)
            #expect(purged.status == 200)
            for host in ["shop.example", "other.example"] {
                let answer = try await send(running, target, host: host)
                #expect(answer.status == 200)
            }
            #expect(running.origin.hits("/a.png") == 4)
        }
    }

    @Test func `a refresh that finds another version removes the earlier one from all tenants`() async throws {
        try await withTenants({ _ in #"{ tenants: { one: { hosts: ["one"] }, two: { hosts: ["two"] } } }"# }) {
            running in
            let target = running.target("/a.png")
            let hosts = ["one", "two", "default"]
            for host in hosts { #expect(try await send(running, target, host: host).status == 200) }
            let other = ImageFixture.file(.plain(PixelSize(width: 40, height: 30), [1, 2, 3]), as: .png)
            running.origin.serve("/a.png", .image(other, type: "image/png").with("Cache-Control", "max-age=60"))
            let refresh = "/refresh?url=\(running.origin.url("/a.png"))"
            #expect(try await running.send("POST", refresh, to: .admin).text.contains("changed"))
            var tags: Set<String> = []
            for host in hosts {
                let answer = try await send(running, target, host: host)
                #expect(answer.headerFields[.cacheStatus]?.contains("alula-result;hit") == false, "\(host)")
                tags.insert(answer.headerFields[.eTag] ?? "")
            }
            #expect(tags.count == 1)
        }
    }

    @Test func `another service's key leads to its tenant`() async throws {
        let running = try RunningService(["--thumbor-path", "/t"], file: file)
        running.origin.serve("/a.png", .image(ImageFixture.png.array, type: "image/png"))
        file.withLock {
            $0 = #"""
                { presets: { card: { w: 9 } }, tenants: {
                  one: { keys: [{ id: "t1", kind: "thumbor", secret: "first" }, { id: "t2", kind: "thumbor", secret: "second" }],
                         sizes: [32] },
                  two: { keys: [{ id: "t3", kind: "thumbor", secret: "third" }] } } }
                """#
        }
        #expect(try await running.send("POST", "/reload", to: .admin).status == 200)
        let source = running.origin.url("/a.png")
        for (key, width, status) in [
            ("first", 32, 200), ("second", 32, 200), ("first", 33, 400), ("third", 33, 200), ("fourth", 33, 403),
        ] {
            let path = "\(width)x0/\(source)"
            let code = Base64URL.encode(HMAC.authenticationCode(for: path.utf8, key: Array(key.utf8), hash: .sha1))
            let target = "/t/\(code)\(code.utf8.count % 4 == 3 ? "=" : "")/\(path)"
            #expect(try await running.send("GET", target).status == status, "\(key) \(width)")
        }
        await running.stop()
    }
}
