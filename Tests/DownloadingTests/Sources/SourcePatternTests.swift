import Testing

@testable import Downloading

struct SourcePatternTests {
    @Test(arguments: [
        ("https://*.example.com/*", "https://a.example.com/x.png", true),
        ("https://*.example.com/*", "https://a.b.example.com/", true),
        ("https://*.example.com/*", "https://example.com/x.png", false),
        ("https://*.example.com/*", "http://a.example.com/x.png", false),
        ("https://*.example.com/*", "https://evil.com/.example.com/", false),
        ("https://*.example.com/*", "https://evil.com/?a.example.com/x", false),
        ("https://*.example.com/*", "https://a.example.com.evil.com/", false),
        ("https://*.example.com/*", "https://a.example.com:8443/x", false),
        ("https://*.example.com:8443/*", "https://a.example.com:8443/x", true),
        ("https://example.com:*/*", "https://example.com:9000/x", true),
        ("https://example.com:*/*", "https://example.com/x", true),
        ("example.com", "http://example.com/any/thing?x", true),
        ("example.com", "https://example.com/any", true),
        ("example.com/photos/*.jpg", "http://example.com/photos/2024/a.jpg", true),
        ("example.com/photos/*.jpg", "http://example.com/photos/a.png", false),
        ("*://*/*a*b*c", "http://h/xxaxxbxxc", true),
        ("*://*/*a*b*c", "http://h/xxaxxcxxb", false),
        ("*://*", "https://anything.example/", true),
        ("http://[2606:2800:220:1::1]/*", "http://[2606:2800:220:1:0:0:0:1]/a", true),
    ])
    func `a pattern is matched part by part`(pattern: String, url: String, isMatch: Bool) throws {
        #expect(try #require(SourcePattern(pattern)).matches(SourceURL(parsing: url)) == isMatch)
    }

    @Test(arguments: [
        "", "ftp://example.com/*", "https://", "https:///a", "example.com:0", "example.com:x", "a b", "u@h",
    ])
    func `an invalid pattern is rejected`(pattern: String) {
        #expect(SourcePattern(pattern) == nil)
    }

    @Test func `a pattern of many stars is matched quickly`() throws {
        let pattern = try #require(SourcePattern("h/" + String(repeating: "*a", count: 100)))
        #expect(try !pattern.matches(SourceURL(parsing: "http://h/" + String(repeating: "a", count: 1900) + "b")))
    }

    @Test(arguments: [
        ("a.example", true), ("https://127.0.0.1:8080/*", true), ("localhost", true), ("*.example.com", true),
        ("a*.b.example.com", true), ("*", false), ("https://*/*", false), ("*.com", false), ("*example.com", false),
        ("*.*.com", false), ("a.*", false), ("*.com.", false),
    ])
    func `a pattern names the hosts of one owner, or any host`(text: String, isNamed: Bool) throws {
        #expect(try #require(SourcePattern(text)).namesHost == isNamed)
    }
}
