import Downloading
import Testing

@testable import Webhooks

/// The hosts that callbacks may use.
struct CallbackHostsTests {
    @Test(arguments: [
        ("https://hooks.example.com/a", true), ("http://HOOKS.example.com:8443/", true),
        ("https://hooks.example.com./", true), ("https://x.hooks.example.com/", false),
        ("https://a.example.org/", true), ("https://a.b.example.org/", true), ("https://example.org/", false),
        ("https://notexample.org/", false), ("http://127.0.0.1:9/", true), ("http://127.0.0.2/", false),
        ("http://[::1]/", true), ("https://xn--bcher-kva.example/", true), ("https://other/", false),
    ])
    func `a callback leads to a host in the list, on any port`(url: String, isAllowed: Bool) throws {
        let hosts = try #require(
            CallbackHosts(["Hooks.example.com", "*.example.org", "127.0.0.1", "[::1]", "bücher.example"]))
        #expect(hosts.allow(try SourceURL(parsing: url)) == isAllowed)
        #expect(!CallbackHosts().allow(try SourceURL(parsing: url)))
    }

    @Test(arguments: ["", "*", "*.", "a/b", "http://a", "a:81", "*.127.0.0.1", "a b", "user@a", "a?b", "*a.example"])
    func `an invalid host is rejected`(text: String) {
        #expect(CallbackHosts([text]) == nil, "\(text)")
    }
}
