import Testing

@testable import Downloading

struct RedirectTrailTests {
    @Test func `redirects are followed up to the limit`() throws {
        var trail = RedirectTrail(start: try SourceURL(parsing: "http://example.com/0"), maximum: 5)
        for hop in 1...5 { try trail.follow("/\(hop)") }
        #expect(trail.current.canonical == "http://example.com/5")
        #expect(throws: DownloadError.tooManyRedirects) { try trail.follow("/6") }
    }

    @Test func `a loop is detected at once`() throws {
        var trail = RedirectTrail(start: try SourceURL(parsing: "http://example.com/a"), maximum: 5)
        try trail.follow("/b")
        #expect(throws: DownloadError.tooManyRedirects) { try trail.follow("http://EXAMPLE.com:80/a#again") }
    }

    @Test func `https is never downgraded`() throws {
        var trail = RedirectTrail(start: try SourceURL(parsing: "http://example.com/a"), maximum: 5)
        try trail.follow("https://example.com/a")
        #expect { try trail.follow("http://example.com/b") } throws: { isDenied($0, by: "redirects") }
    }

    @Test(arguments: [
        "file:///etc/passwd", "http://2130706433/", "http://user@example.com/", "https:/127.1/", "//a b/",
    ])
    func `an invalid target is rejected`(location: String) throws {
        var trail = RedirectTrail(start: try SourceURL(parsing: "http://example.com/a"), maximum: 5)
        #expect { try trail.follow(location) } throws: { isDenied($0, by: "redirects") }
    }
}
