import Coordination
import Downloading
import HTTPTypes
import TestSupport
import Testing
import Text

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    private let origin: FakeOrigin
    private let names: FakeNameServer

    init() throws {
        origin = try FakeOrigin()
        origin.serveOthers { _ in .image([1]) }
        names = try FakeNameServer()
        names.serve("photos.test", .addresses(["127.0.0.1"]))
    }

    @Test func `the proxy connects to the checked address, and the origin sees its own name`() async throws {
        let proxy = try proxy()
        let load = try loader { $0.proxy = try SourceURL(parsing: proxy.url) }
        try await load(origin.url("/a", host: "photos.test"))
        try await load(origin.url("/b", host: "photos.test"))
        #expect(proxy.targets == ["127.0.0.1:\(origin.port)"], "a tunnel is reused")
        #expect(origin.requests.map(\.target) == ["/a", "/b"])
        #expect(origin.requests.allSatisfy { $0.value("Host") == "photos.test:\(origin.port)" })
        let head = try #require(proxy.requests.first)
        #expect(!head.contains("Accept") && !head.contains("User-Agent: Alula"), "fields are the origin's alone")
    }

    @Test func `a tunnel is not reused for another address of the name`() async throws {
        names.serve("photos.test", .addresses(["127.0.0.1"]), then: .addresses(["127.0.0.2"]))
        let proxy = try proxy()
        let load = try loader { $0.proxy = try SourceURL(parsing: proxy.url) }
        try await load(origin.url("/a", host: "photos.test"))
        try await load(origin.url("/b", host: "photos.test"))
        #expect(proxy.targets == ["127.0.0.1", "127.0.0.2"].map { "\($0):\(origin.port)" })
    }

    @Test func `the name of the proxy is looked up, and its addresses are not checked`() async throws {
        names.serve("proxy.test", .addresses(["127.0.0.1"]))
        names.serve("photos.test", .addresses(["127.0.0.9"]))
        let proxy = try proxy()
        let load = try loader(networks: ["127.0.0.9/32"]) {
            $0.proxy = try SourceURL(parsing: "http://proxy.test:\(proxy.port)")
        }
        try await load(origin.url("/a", host: "photos.test"))
        #expect(proxy.targets == ["127.0.0.9:\(origin.port)"])
        await #expect { try await load(origin.url("/a")) } throws: { isDenied($0, by: "allowedNetworks") }
        #expect(proxy.targets.count == 1)
    }

    @Test func `names that need no name server are looked up for host and proxy`() async throws {
        let proxy = try proxy()
        let load = try loader(networks: ["127.0.0.0/8", "::1/128"]) {
            $0.proxy = try SourceURL(parsing: "http://localhost:\(proxy.port)")
        }
        try await load(origin.url("/a", host: "localhost"))
        #expect(proxy.targets.count == 1)
    }

    @Test func `a forbidden address is not sent to the proxy, nor a redirect to one`() async throws {
        names.serve("inner.test", .addresses(["127.0.0.3"]))
        origin.serve("/away", .redirect(to: "http://inner.test:\(origin.port)/secret"))
        let proxy = try proxy()
        let load = try loader(networks: ["127.0.0.1/32"]) { $0.proxy = try SourceURL(parsing: proxy.url) }
        for url in [origin.url("/a", host: "inner.test"), origin.url("/away")] {
            await #expect { try await load(url) } throws: { isDenied($0, by: "allowedNetworks") }
        }
        #expect(proxy.targets == ["127.0.0.1:\(origin.port)"])
        #expect(origin.requests.map(\.target) == ["/away"])
    }

    @Test func `the next address is tried if the proxy does not reach one`() async throws {
        names.serve("photos.test", .addresses(["127.0.0.5", "127.0.0.1"]))
        let proxy = try proxy { $0.hasPrefix("127.0.0.5") ? 503 : nil }
        let load = try loader { $0.proxy = try SourceURL(parsing: proxy.url) }
        try await load(origin.url("/a", host: "photos.test"))
        #expect(proxy.targets.last == "127.0.0.1:\(origin.port)")
    }

    @Test func `a rejection by the proxy, or its absence, is named`() async throws {
        let proxy = try proxy { _ in 403 }
        let load = try loader { $0.proxy = try SourceURL(parsing: proxy.url) }
        await #expect(throws: DownloadError.unreachable("the proxy responded to CONNECT with status 403")) {
            try await load(origin.url("/a"))
        }
        let absent = try loader { $0.proxy = try SourceURL(parsing: "http://127.0.0.1:1") }
        await #expect { try await absent(origin.url("/a")) } throws: { error in
            if case .unreachable(let text)? = error as? DownloadError { text.hasPrefix("the proxy: ") } else { false }
        }
        #expect(origin.hits == 0)
    }

    @Test func `a named origin has its own proxy, or none`() async throws {
        let (common, own) = (try proxy(), try proxy())
        let load = try loader { configuration in
            configuration.proxy = try SourceURL(parsing: common.url)
            let base = try SourceURL(parsing: origin.url("/"))
            var proxied = Origin(name: "proxied", location: .web(base: base))
            proxied.proxy = try SourceURL(parsing: own.url)
            configuration.origins = Origins([proxied, Origin(name: "direct", location: .web(base: base))])
        }
        try await load("direct:a")
        #expect(common.targets.isEmpty && own.targets.isEmpty)
        try await load("proxied:a")
        #expect(common.targets.isEmpty && own.targets.count == 1)
        try await load(origin.url("/a"))
        #expect(common.targets.count == 1 && own.targets.count == 1)
    }

    @Test func `TLS is between the service and the origin`() async throws {
        let root = FakeCertificate.root()
        let authorities = TemporaryFile(root.pem)
        let front = try FakeTLSFront(origin: origin, certificate: root.server(for: ["photos.test"]))
        let proxy = try FakeProxy { _ in .success(front.port) }
        let load = try loader { configuration in
            configuration.proxy = try SourceURL(parsing: proxy.url)
            configuration.certificateAuthorities = authorities.path
        }
        try await load(front.url("/a", host: "photos.test"))
        #expect(proxy.targets == ["127.0.0.1:\(front.port)"])
        names.serve("other.test", .addresses(["127.0.0.1"]))
        await #expect { try await load(front.url("/a", host: "other.test")) } throws: { error in
            if case .tls? = error as? DownloadError { true } else { false }
        }
    }

    /// A proxy that connects every target to the origin, unless a status rejects the target.
    private func proxy(_ refusal: @escaping @Sendable (String) -> Int? = { _ in nil }) throws -> FakeProxy {
        let port = origin.port
        return try FakeProxy { target in refusal(target).map { .failure(FakeProxyRefusal($0)) } ?? .success(port) }
    }

    private func loader(
        networks: [String] = ["127.0.0.0/8"], _ change: (inout DownloadConfiguration) throws -> Void
    ) throws -> @Sendable (String) async throws -> Void {
        var configuration = DownloadConfiguration()
        configuration.allowedNetworks = networks.compactMap { AddressNetwork($0) }
        configuration.nameServers = names.endpoint
        try change(&configuration)
        let loader = try CurlLoader(configuration: configuration)
        let rules = DownloadRules(configuration)
        return { source in
            let identity = try rules.identity(of: ExactText(source))
            _ = try await loader.load(TransferRequest(identity: identity), progress: TransferProgress())
        }
    }
}
