import HTTPTypes
import Recipes
import SharedCaching
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// The shared cache of two instances, from the point of view of clients and operators.
@Suite(.timeLimit(.minutes(2)))
struct SharedCacheTests {
    private let server: FakeRedis
    private let origin: FakeOrigin

    init() throws {
        server = try FakeRedis()
        origin = try FakeOrigin()
        origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=1000"))
    }

    private func withInstance(
        _ name: String, _ arguments: [String] = [], _ body: (RunningService) async throws -> Void
    ) async throws {
        try await withService(
            ["--shared-cache", server.url, "--instance-name", name] + arguments,
            // A long timeout, because other processes may use all cores.
            configure: { $0.sharedCache.timeout = .seconds(40) }
        ) { running in
            try #require(await eventually { running.service.sharedCache?.isUp == true })
            try await body(running)
        }
    }

    @Test func `two instances share results and purges, and report it`() async throws {
        let target = "/thumbnail?url=\(origin.url("/a.jpg"))&w=32"
        try await withInstance("one") { one in
            try await withInstance("two") { two in
                let first = try await one.send("GET", target)
                #expect(first.headerFields[.cacheStatus]?.contains("alula-shared;fwd=uri-miss;stored") == true)
                try #require(
                    await eventually {
                        one.service.sharedCache?.statistics.values.bytes == 0
                    })
                let second = try await two.send("GET", target)
                #expect(second.headerFields[.cacheStatus] == "alula-result;fwd=uri-miss;stored, alula-shared;hit")
                #expect(second.body == first.body && origin.hits("/a.jpg") == 1)

                let status = try await two.send("GET", "/status", to: .admin)
                #expect(status.text.contains(#""instance":"two""#))
                #expect(status.text.contains(#""sharedCache":{"state":"up"}"#))
                let hits = try await two.metric("alula_shared_cache_requests_total{result=\"hit\"}")
                #expect(hits == 2)

                let purge = "/cache?url=\(origin.url("/a.jpg"))"
                let removal = try await one.send("DELETE", purge, to: .admin)
                #expect(removal.status == 200)
                #expect(
                    await eventually {
                        (try? await two.send("GET", target).headerFields[.cacheStatus]) != "alula-result;hit"
                    })
                #expect(origin.hits("/a.jpg") == 2)
            }
        }
    }

    @Test func `signatures are checked before the shared cache is queried`() async throws {
        let key = String(repeating: "0f", count: 32)
        try await withInstance("one", ["--signing-keys", key]) { one in
            let answer = try await one.send("GET", "/thumbnail?url=\(origin.url("/a.jpg"))&w=32")
            #expect(answer.status == 403)
            #expect(!server.commands.contains { $0[0] == "MGET" && $0.count > 2 })
        }
        try await withInstance("two", ["--allowed-sources", "https://example.com/*"]) { two in
            let answer = try await two.send("GET", "/thumbnail?url=\(origin.url("/a.jpg"))&w=32")
            #expect(answer.status == 403)
            #expect(!server.commands.contains { $0[0] == "MGET" && $0.count > 2 })
        }
    }

    @Test func `without a server the service starts, and reports that it is down`() async throws {
        server.stop()
        try await withService(["--shared-cache", server.url]) { running in
            let status = try await running.send("GET", "/status", to: .admin)
            #expect(status.text.contains(#"{"state":"down"}"#))
            let metric = try await running.metric("alula_shared_cache_up")
            #expect(metric == 0)
        }
        try await withService { running in
            let status = try await running.send("GET", "/status", to: .admin)
            #expect(!status.text.contains(#""sharedCache":{"#))
        }
    }
}
