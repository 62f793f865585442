import Downloading
import HTTPTypes
import Testing
import Text

struct SourceURLTests {
    @Test(arguments: [
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com:80/a.png", "http://example.com/a.png"),
        ("https://example.com:443/a.png", "https://example.com/a.png"),
        ("https://example.com:80/a.png", "https://example.com:80/a.png"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com/a%20b.png?x=1&y=2#f", "http://example.com/a%20b.png?x=1&y=2"),
        ("http://example.com/%0d%0aHost:%20a", "http://example.com/%0d%0aHost:%20a"),
        ("http://bücher.example/a.png", "http://xn--bcher-kva.example/a.png"),
        ("http://a_b.example.com/a.png", "http://a_b.example.com/a.png"),
        ("http://8.8.8.8:8080/a", "http://8.8.8.8:8080/a"),
        ("http://[2606:2800:0220:1:0:0:0:1]/a", "http://[2606:2800:220:1::1]/a"),
        ("http://example.com?x", "http://example.com/?x"),
        ("http://example.com/a b .png?x= y", "http://example.com/a%20b%20.png?x=%20y"),
        ("http://example.com/ ", "http://example.com/%20"), ("http://example.com? ", "http://example.com/?%20"),
    ])
    func `a URL has one canonical text`(text: String, canonical: String) throws {
        #expect(try SourceURL(parsing: text).canonical == canonical)
        #expect(try SourceURL(parsing: canonical) == SourceURL(parsing: text))
    }

    @Test func `a URL has its parts`() throws {
        let url = try SourceURL(parsing: "https://Example.com:8443/photos/a%20b.jpg?x#y")
        #expect(url.scheme == "https")
        #expect(url.host == "example.com")
        #expect(url.port == 8443)
        #expect(url.path == "/photos/a%20b.jpg")
        #expect(url.address == nil)
        #expect(try SourceURL(parsing: "http://[2606:2800:220:1::1]/").address == IPAddress("2606:2800:220:1::1"))
    }

    @Test(arguments: [
        "", "http", "http://", "http:///", "http://#f", "127.0.0.1/", "http:/example.com/", "http:////example.com/",
        " http://example.com/", "http://exa mple.com/", "http ://example.com/", "http:// example.com/",
        "http://exa\nmple.com/", "http://example.com/\u{7f}",
        "http://user:pw@example.com/", "http://:@example.com/", "http://@example.com/", "http://127.0.0.1@example.com/",
        "http://127.0.0.1:80\\@127.2.2.2:80/", "http://example.com\\@127.0.0.1/", "http://example.com/\\a",
        "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.example.com/", "http://[fe80::1%25lo]/", "http://::1/",
        "http://[::1]x/", "http://[v1.x]/", "http://example.com:0/", "http://example.com:-1/",
        "http://example.com:080a/", "http://example.com:65536/", "http://.example.com/", "http://a..example.com/",
        "javascript:alert(1)", "ht\ttp://h/", "://h/", "//example.com/a",
        "http://" + String(repeating: "a", count: 64) + ".example/",
        "http://" + Array(repeating: String(repeating: "a", count: 60), count: 5).joined(separator: ".") + "/",
        "http://example.com/" + String(repeating: "a", count: 2048),
    ])
    func `an invalid source URL is rejected`(text: String) {
        #expect(throws: SourceURLError.malformed) { try SourceURL(parsing: text) }
    }

    @Test(arguments: [
        "/a/../b", "/a/./b", "/..", "/.", "/a/..", "/a/%2e%2e/b", "/a/%2E%2e/b", "/a/.%2e/b", "/a/%2e./b", "/%2e/b",
        "/a/%2e%2e%2fb", "/a/..%2Fb", "/a%2f..%2fb", "/a/..%5cb", "/a/%5C%2e%2e%5Cb", "/a/%2e%2e", "/a/%2e%2e?x=1",
        "/a/%2e%2e#f", "/a/..;/b", "/a/..;x=1/b", "/a/%2e%2e%3bx/b", "/a/.;/b", "/..;",
    ])
    func `a path with dot segments is rejected, escaped or not`(path: String) {
        #expect(throws: SourceURLError.dotSegment) { try SourceURL(parsing: "http://example.com\(path)") }
    }

    @Test(arguments: [
        "/a/...", "/a/..b", "/a/b..", "/a/.b", "/a/%252e%252e/b", "/a/%2e%2e%2e", "/a?x=/../b", "/a?x=%2e%2e/", "/a/%2",
        "/a%",
        "/a/..%2gb", "/a/;../b", "/a;b/c", "/a/b;..",
    ])
    func `dots that do not form a segment are part of a name`(path: String) throws {
        let url = try SourceURL(parsing: "http://example.com\(path)")
        #expect(url.canonical == "http://example.com\(path)")
    }

    @Test func `the canonical text is ASCII, so that comparing it compares bytes`() throws {
        let kelvin = try SourceURL(parsing: "http://example.com/\u{212a}itten.png?\u{37e}=\u{e9}")
        #expect(kelvin.canonical == "http://example.com/%e2%84%aaitten.png?%cd%be=%c3%a9")
        #expect(try kelvin != SourceURL(parsing: "http://example.com/Kitten.png?;=e\u{301}"))
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://example.com/a.png", "FILE://localhost/a", "ws://h/", "gopher://h:70/",
    ])
    func `schemes other than http and https are rejected`(text: String) {
        let scheme = text.prefix(before: UInt8(ascii: ":")).asciiLowercased
        #expect(throws: SourceURLError.schemeNotAllowed(scheme)) { try SourceURL(parsing: text) }
    }

    @Test(arguments: [
        "2130706433", "0x7f.0x0.0x0.0x1", "0x7f000001", "0177.0.0.1", "0000000177.00000000.00000000.00000001", "127.1",
        "127.0.1", "127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "[::ffff:8.8.8.8]", "4294967296", "0x100000000", "1.2.3", "1.2.3.4.5", "256.1.1.1", "example.1", "LOCALHOſT",
        "exa\u{ad}mple.com",
    ])
    func `spellings that hide an address or a name are rejected`(host: String) {
        #expect(throws: SourceURLError.literalNotAllowed(host)) { try SourceURL(parsing: "http://\(host)/a.png") }
    }

    @Test(arguments: [
        ("b.png", "https://example.com/a/b.png"), ("/b.png", "https://example.com/b.png"),
        ("../b.png", "https://example.com/b.png"), ("?x=1", "https://example.com/a/c.jpg?x=1"),
        ("//cdn.example.com/b.png", "https://cdn.example.com/b.png"),
        ("http://Other.example/x#y", "http://other.example/x"), ("/bü.png", "https://example.com/b%c3%bc.png"),
        (" /a b.png?x= y ", "https://example.com/a%20b.png?x=%20y"), ("b c.png", "https://example.com/a/b%20c.png"),
        ("\\b\\c.png?x=\\", "https://example.com/b/c.png?x=%5C"), ("..\\b.png", "https://example.com/b.png"),
        ("https:/b.png", "https://example.com/b.png"), ("HTTPS:b.png", "https://example.com/a/b.png"),
        ("http:/h/b.png", "http://h/b.png"), ("http:h/b.png", "http://h/b.png"), ("http:\\\\h\\b", "http://h/b"),
        ("https:////h/b.png", "https://h/b.png"), ("///h/b.png", "https://h/b.png"), ("/\\h/b", "https://h/b"),
        ("https://h/a b", "https://h/a%20b"), ("https:?x", "https://example.com/a/c.jpg?x"),
    ])
    func `a redirect's target is resolved against its page`(location: String, target: String) throws {
        let base = try SourceURL(parsing: "https://example.com/a/c.jpg")
        #expect(try base.redirected(to: location).canonical == target)
    }

    @Test(arguments: [
        "https:/user@example.com/", "//user@example.com/", "http://a b/", "///2130706433/", "\\\\127.1",
        "file:/etc/passwd", "https:/127.1/", "http://2130706433/", "/x/%2e%2e/y", "%2e%2e/y",
        "//example.com/x/..%2fy", "http://example.com/x/../y", "file:///etc/passwd", "//127.1/",
    ])
    func `a redirect's target is validated like a first URL`(location: String) throws {
        let base = try SourceURL(parsing: "http://example.com/a/c.jpg")
        #expect(throws: SourceURLError.self) { try base.redirected(to: location) }
    }
}
