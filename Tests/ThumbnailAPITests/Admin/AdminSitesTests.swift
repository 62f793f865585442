import HTTPTypes
import Testing

@testable import ThumbnailAPI

@Suite struct OperatorSitesTests {
    private func violation(
        _ method: HTTPRequest.Method, _ host: String?, _ fields: HTTPFields = [:], names: [String] = []
    ) -> AdminSites.Objection? {
        var headerFields = fields
        if let host { headerFields.append(.host, host) }
        return AdminSites(names: names)
            .violation(to: HTTPRequest(method: method, target: "/status", headerFields: headerFields))
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:9091", "10.1.2.3:9091", "192.0.2.1:", "[::1]", "[::1]:9091", "[2001:DB8::1]:80",
        "localhost", "LocalHost:9091", "localhost.", "localhost.:9091",
    ])
    func `addresses and localhost are served`(host: String) {
        #expect(violation(.get, host) == nil)
    }

    @Test(arguments: [
        "rebound.example", "rebound.example:9091", "localhost.rebound.example", "rebound.localhost", "", ":9091",
        "127.0.0.1.rebound.example", "127.1", "0x7f.1", "2130706433", "127.0.0.01", "::1", "[::1", "[::1].example",
        "[127.0.0.1]", "[rebound.example]", "127.0.0.1:9091:9091", "localhost:x", "localhost:123456", "localhost..",
        "127.0.0.1, rebound.example", "alula.internal.example", "xalula.internal",
    ])
    func `other names are rejected`(host: String) {
        #expect(violation(.get, host, names: ["alula.internal"]) == .unknownHost(host))
    }

    @Test func `configured names are served, in upper and lower case`() {
        let names = ["alula.internal", "Alula-2"]
        for host in ["alula.internal", "ALULA.internal:9091", "alula-2", "alula.internal.", "localhost", "10.0.0.1"] {
            #expect(violation(.get, host, names: names) == nil)
        }
        #expect(violation(.get, "anything.example:1", names: ["*"]) == nil)
        #expect(violation(.get, "", names: ["*"]) == nil)
    }

    @Test func `a request without Host is served`() {
        #expect(violation(.get, nil) == nil)
    }

    @Test(arguments: ["cross-site", "same-site", "Cross-Site", "", "same-origin, cross-site"])
    func `a write for another site is rejected by the browser's fields, a read is not`(site: String) {
        #expect(violation(.delete, "localhost:9091", [.secFetchSite: site]) == .otherSite(site))
        #expect(violation(.post, "localhost:9091", [.secFetchSite: site]) == .otherSite(site))
        #expect(violation(.get, "localhost:9091", [.secFetchSite: site]) == nil)
        #expect(violation(.head, "localhost:9091", [.secFetchSite: site]) == nil)
    }

    @Test(arguments: [
        ("localhost:9091", "http://localhost:9091"), ("127.0.0.1:9091", "http://127.0.0.1:9091"),
        ("[::1]:9091", "http://[::1]:9091"), ("localhost", "http://localhost"), ("localhost:80", "http://localhost"),
        ("localhost", "https://localhost"), ("localhost:443", "https://localhost"), ("LOCALHOST", "http://localhost"),
    ])
    func `a page of the listener may write`(host: String, origin: String) {
        #expect(violation(.delete, host, [.origin: origin, .secFetchSite: "same-origin"]) == nil)
        #expect(violation(.post, host, [.origin: origin]) == nil)
    }

    @Test(arguments: [
        "null", "", "http://localhost", "http://localhost:3000", "https://localhost:9092",
        "http://rebound.example:9091",
        "http://127.0.0.1:9091", "localhost:9091", "http://localhost:9091/", "ftp://localhost:9091",
        "http://rebound.example@localhost:9091", "http://localhost:9091, http://rebound.example",
    ])
    func `a page of another origin may not write`(origin: String) {
        #expect(violation(.delete, "localhost:9091", [.origin: origin]) == .otherSite(origin))
        #expect(violation(.get, "localhost:9091", [.origin: origin]) == nil)
        // Pages of other origins are rejected even if the listener may have any name.
        #expect(violation(.delete, "localhost:9091", [.origin: origin], names: ["*"]) == .otherSite(origin))
    }

    @Test func `a request with two origins is rejected`() {
        let fields: HTTPFields = [.origin: "http://localhost:9091", .origin: "http://rebound.example"]
        #expect(violation(.delete, "localhost:9091", fields) != nil)
    }

    @Test func `clients without browser fields may write`() {
        #expect(violation(.delete, "localhost:9091") == nil)
        #expect(violation(.delete, "localhost:9091", [.secFetchSite: "none"]) == nil)
    }

    @Test func `a configured name must have the form of a host name`() {
        for name in ["*", "alula", "alula.internal", "a-b_c.example", "10.0.0.1"] {
            #expect(AdminSites.isName(name))
        }
        for name in ["", "*.example", "a:9091", "http://a", "a/b", ".a", "a b", "ä"] {
            #expect(!AdminSites.isName(name))
        }
    }
}
