import Downloading
import HTTPTypes
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func `an image after a redirect is a source under the requested URL`(status: Int) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .redirect(to: "b/c?x=1", status: status))
        fixture.origin.serve("/b/c", .image([1, 2]))
        let cache = StubCache(keeps: true)
        let copy = try await fixture.downloader(cache: cache).begin(url: fixture.origin.url("/a")).value
        #expect(copy.bytes?.array == [1, 2])
        #expect(copy.head.identity.url.path == "/a")
        #expect(copy.head.url == fixture.origin.url("/b/c?x=1"))
        #expect(cache.stored(for: copy.head.identity) != nil)
        #expect(fixture.origin.requests.map(\.target) == ["/a", "/b/c?x=1"])
    }

    @Test(
        arguments: [
            (nil, .shared, false), ("max-age=60", .shared, false), ("no-cache", .shared, true),
            ("private", .private, false), ("no-store", .none, false),
        ] as [(String?, SourceStorability, Bool)])
    func `restrictions of a redirect apply to its target`(
        control: String?, storability: SourceStorability, needsValidation: Bool
    ) async throws {
        let fixture = try LoaderFixture()
        let redirect = FakeResponse.redirect(to: "/b")
        fixture.origin.serve("/a", control.map { redirect.with("Cache-Control", $0) } ?? redirect)
        fixture.origin.serve("/b", .image([1]).with("Cache-Control", "max-age=3600").with("ETag", "\"1\""))
        let source = try await fixture.load("/a")
        #expect(source.head.freshness.storability == storability)
        #expect(source.head.freshness.alwaysNeedsValidation == needsValidation)
        fixture.origin.serve("/b", .status(304))
        guard case .notModified(let confirmation) = try await fixture.ask("/a", about: source.head) else {
            Issue.record("no confirmation")
            return
        }
        #expect(confirmation.headerFields[.cacheControl] == (control == "max-age=60" ? nil : control))
    }

    @Test func `a redirect to another host uses that host's name`() async throws {
        let fixture = try LoaderFixture()
        let other = try FakeOrigin(address: "127.0.0.2")
        fixture.origin.serve("/a", .redirect(to: other.url("/b")))
        other.serve("/b", .image([1]))
        try await fixture.load("/a")
        #expect(other.requests.first?.value("Host") == "127.0.0.2:\(other.port)")
    }

    @Test func `five redirects are followed, six are not`() async throws {
        let fixture = try LoaderFixture()
        for hop in 1...6 { fixture.origin.serve("/\(hop)", .redirect(to: "/\(hop - 1)")) }
        fixture.origin.serve("/0", .image([1]))
        try await fixture.load("/5")
        await #expect(throws: DownloadError.tooManyRedirects) { try await fixture.load("/6") }
    }

    @Test func `a redirect to a closed port of an open endpoint's host is not followed`() async throws {
        let other = try FakeOrigin()
        let address = try #require(IPAddress("127.0.0.1"))
        let fixture = try LoaderFixture { $0.allowedNetworks = [] }
        var configuration = fixture.configuration
        configuration.allowedEndpoints = [AllowedEndpoint(address: address, port: fixture.origin.port)]
        let loader = try CurlLoader(configuration: configuration)
        fixture.origin.serve("/a", .redirect(to: other.url("/b")))
        await #expect {
            try await loader.load(
                fixture.request(fixture.origin.url("/a"), by: DownloadRules(configuration)),
                progress: TransferProgress())
        } throws: {
            isDenied($0, by: "allowedNetworks")
        }
        #expect(other.connectionCount == 0)
    }

    @Test func `a redirect's target must be among the allowed sources`() async throws {
        let fixture = try LoaderFixture {
            $0.allowedSources = [SourcePattern("http://127.0.0.1:1/*")].compactMap { $0 }
        }
        await #expect { try await fixture.load("/a") } throws: { isDenied($0, by: "allowedSources") }
        let port = fixture.origin.port
        var configuration = fixture.configuration
        configuration.allowedSources = [try #require(SourcePattern("http://127.0.0.1:\(port)/open/*"))]
        let loader = try CurlLoader(configuration: configuration)
        fixture.origin.serve("/open/a", .redirect(to: "/closed/b"))
        await #expect {
            try await loader.load(
                fixture.request(fixture.origin.url("/open/a"), by: DownloadRules(configuration)),
                progress: TransferProgress())
        } throws: {
            isDenied($0, by: "allowedSources")
        }
        #expect(fixture.origin.requests.map(\.target) == ["/open/a"])
    }
}
