import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Notifications of a host, which are sent and checked like requests for sources.
@Suite(.timeLimit(.minutes(1)))
struct CallTests {
    private let request = HTTPRequest(
        method: .post, target: "", headerFields: [.contentType: "application/json", .accept: "*/*"],
        body: SharedBytes(Array("{}".utf8)))

    @Test func `a call sends its method, fields and body`() async throws {
        let fixture = try LoaderFixture {
            // These settings apply only to sources.
            $0.allowedSources = [SourcePattern("https://images.example/*")].compactMap { $0 }
        }
        fixture.origin.serve("/done", FakeResponse(status: 204))
        try await fixture.loader.call(
            request, at: SourceURL(parsing: fixture.origin.url("/done?a=b")), by: fixture.rules)
        let sent = try #require(fixture.origin.requests.first)
        #expect(sent.method == "POST" && sent.target == "/done?a=b" && sent.body == Array("{}".utf8))
        #expect(sent.fields.filter { $0.name == "Accept" }.map(\.value) == ["*/*"])
        #expect(sent.value("Content-Type") == "application/json")
        await #expect(throws: DownloadError.self) { try await fixture.load("/done") }
    }

    @Test(arguments: [301, 307, 400, 404, 500])
    func `a status other than 2xx is a failure, and redirects are not followed`(status: Int) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", FakeResponse(status: status).with("Location", "/b"))
        await #expect(throws: DownloadError.status(status)) {
            try await fixture.loader.call(request, at: SourceURL(parsing: fixture.origin.url("/a")), by: fixture.rules)
        }
        #expect(fixture.origin.requests.map(\.target) == ["/a"])
    }

    @Test func `a call uses no proxy`() async throws {
        let proxy = try FakeProxy { _ in .failure(FakeProxyRefusal(403)) }
        let fixture = try LoaderFixture { $0.proxy = try? SourceURL(parsing: proxy.url) }
        fixture.origin.serve("/done", FakeResponse(status: 204))
        try await fixture.loader.call(request, at: SourceURL(parsing: fixture.origin.url("/done")), by: fixture.rules)
        #expect(fixture.origin.hits("/done") == 1 && proxy.requests.isEmpty)
        await #expect(throws: DownloadError.self) { try await fixture.load("/done") }
        #expect(proxy.requests.count == 1)
    }

    @Test func `a private address is called only in allowed networks, and on allowed ports`() async throws {
        let fixture = try LoaderFixture { $0.allowedNetworks = [] }
        let url = try SourceURL(parsing: fixture.origin.url("/a"))
        await #expect {
            try await fixture.loader.call(request, at: url, by: fixture.rules)
        } throws: {
            isDenied($0, by: "allowedNetworks")
        }
        await #expect {
            try await fixture.loader.call(
                request, at: SourceURL(parsing: "http://localhost:\(fixture.origin.port)/"), by: fixture.rules)
        } throws: {
            isDenied($0, by: "allowedPorts")
        }
        #expect(fixture.configuration.violation(toCalling: url)?.hasPrefix("allowedNetworks") == true)
        #expect(fixture.configuration.violation(toCalling: try SourceURL(parsing: "https://h.example/")) == nil)
        #expect(fixture.origin.requests.isEmpty)
    }

    @Test func `a long unneeded response ends with its status`() async throws {
        let (origin, gate) = (try FakeOrigin(), Gate())
        defer { gate.open() }
        origin.serve(
            "/",
            FakeResponse(status: 202, body: Array(repeating: 0, count: 1 << 20)).held(afterBytes: 300_000, at: gate))
        let status = await HTTPClient.status(
            of: request, to: "http://127.0.0.1:\(origin.port)/", timeLimit: .seconds(50), authorities: nil,
            thread: "test")
        #expect(try status.get() == 202)
    }
}
