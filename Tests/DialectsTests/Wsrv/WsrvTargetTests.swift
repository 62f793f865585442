import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

@Suite struct WsrvTargetTests {
    @Test(arguments: [
        ("example.com/a.jpg", "http://example.com/a.jpg"), ("http://example.com/a.jpg", "http://example.com/a.jpg"),
        ("HTTPS%3A%2F%2Fexample.com%2Fa.jpg", "https://example.com/a.jpg"),
        ("//example.com/a", "https://example.com/a"),
        ("ssl:example.com/a", "https://example.com/a"), ("ssl%3Aexample.com", "https://example.com/"),
        ("///example.com/a", "https://example.com/a"), ("i.nl", "http://i.nl/"),
        ("example.com/a%20b%20(1).png", "http://example.com/a%20b%20(1).png"),
        ("example.com/a%2520b.png", "http://example.com/a%20b.png"), ("example.com/a?v=4", "http://example.com/a?v=4"),
        ("example.com?v=/4", "http://example.com?v=/4"), ("example.com/a%23part", "http://example.com/a"),
        ("example.com/%C3%A9%22", "http://example.com/%C3%A9%22"), ("http://", "http://http://"),
        ("ftp://example.com/a", "http://ftp://example.com/a"), ("127.0.0.1:80/a", "http://127.0.0.1:80/a"),
    ])
    func `a source may lack its scheme and is decoded once`(value: String, source: ExactText) throws {
        #expect(try wsrvQuery("url=\(value)&w=20").source == source)
        #expect(try wsrvQuery("w=20&URL=\(value)&url=other.example").source == source)
    }

    @Test(arguments: [
        "", "abc", "%2F%2F%2F", "https://%2F", "example.com/%", "example.com/%zz", "example.com/%ff",
        String(repeating: "a", count: 64) + ".example/a", String(repeating: "a.", count: 127) + "com/a",
        "example.com/" + String(repeating: "a", count: 2_048),
    ])
    func `an invalid source is rejected`(value: String) {
        #expect { try wsrvQuery("url=\(value)&w=20") } throws: { error in
            (error as? APIError)?.code == "bad_url"
        }
    }

    @Test func `a target without a source is rejected`() {
        for query in ["", "w=20", "url", "urls=example.com", "&&&"] {
            #expect(throws: APIError.missingParameter("url")) { try wsrvQuery(query) }
        }
    }

    @Test func `the prefix at the root matches targets with a source`() throws {
        let dialect = WsrvDialect(at: try #require(PathPrefix("/")))
        func match(_ target: String) -> String { "\(dialect.match(on: target))" }
        for target in ["/?url=a", "/?w=2&URL=a", "/?&uRl="] { #expect(match(target) == "exact", "\(target)") }
        #expect(match("/thumb/x.jpg?url=a") == "fallback")
        for target in ["/", "/?", "/?url", "/?urls=a", "/?w=2", "/?a=url=b", "/x.jpg", "/?xurl=a"] {
            #expect(match(target) == "none", "\(target)")
        }
        let prefixed = WsrvDialect(at: try #require(PathPrefix("/wsrv")))
        for (target, expected) in [("/wsrv?url=a", "exact"), ("/wsrv/", "exact"), ("/wsrvs?url=a", "none")] {
            #expect("\(prefixed.match(on: target))" == expected, "\(target)")
        }
        #expect(dialect.signatures == .none)
    }

    @Test func `failures redirect the client as the target says`() throws {
        func fallback(_ query: String) throws -> Fallback? { try wsrvQuery(query).form.fallback }
        #expect(
            try fallback("w=3&url=example.com/a&h&default=example.com/b.png")
                == .named("http://example.com/b.png", asTarget: "?url=http%3A%2F%2Fexample.com%2Fb.png&w=3&h"))
        #expect(
            try fallback("url=example.com/a&Default=https%3A%2F%2Fh.example%2F%3Fa%26b")?.url
                == "https://h.example/?a&b")
        #expect(
            try fallback("url=//example.com/a&default=1") == .named("https://example.com/a", asTarget: nil))
        #expect(try fallback("url=example.com/a&errorredirect=h.example")?.url == "http://h.example/")
        #expect(try fallback("url=example.com/a&default=404&errorredirect=h.example") == nil)
        #expect(try fallback("url=example.com/a") == nil)
        // The source is invalid, so the response is the redirect.
        let query = try wsrvQuery("url=x&default=h.example")
        #expect(query.form.fallback?.url == "http://h.example/" && query.source == "http://")
        #expect(throws: APIError.self) { try wsrvQuery("url=x&default=1") }
    }

    @Test(arguments: [
        ("7d", 604_800), ("1d", 86_400), ("86400", 86_400), ("86399", 31_536_000), ("1y", 31_536_000),
        ("1y1s", 31_536_000), ("2y", 31_536_000), ("1M", 2_592_000), ("1w2d", 777_600), ("1d5", 86_405),
        ("24h", 86_400), ("1440m", 86_400), ("2d1w", 31_536_000), ("1d1d", 31_536_000), ("abc", 31_536_000),
        ("", 31_536_000), ("d", 31_536_000), ("7D", 31_536_000), ("-1d", 31_536_000), ("90000s5", 31_536_000),
        (String(repeating: "9", count: 4_000), 31_536_000),
    ])
    func `the client cache lifetime is a day to a year`(text: String, seconds: Int) throws {
        #expect(try wsrvQuery("url=example.com&maxage=\(text)").form.maximumAge == seconds)
        #expect(try wsrvQuery("url=example.com").form.maximumAge == nil)
    }

    @Test func `files are named by letters and digits`() throws {
        func name(_ query: String) throws -> ExactText? {
            try wsrvQuery("url=example.com/photo.jpg" + query).form.fileName
        }
        #expect(try name("&filename=holiday2024") == "holiday2024")
        #expect(
            try name("&FileName=\(String(repeating: "a", count: 78))") == ExactText(String(repeating: "a", count: 78)))
        for query in [
            "", "&filename=", "&filename=land.jpg", "&filename=a%20b", "&filename=a-b",
            "&filename=\(String(repeating: "a", count: 79))",
        ] {
            #expect(try name(query) == "image", "\(query)")
        }
    }

    @Test func `ignored parameters are reported, a bounded number of them`() throws {
        let query = try wsrvQuery("url=example.com?v=4&w=20&v=4&amp;h=20&l=9&il&output=webp&W=3&format=jpg&default=1")
        #expect(query.ignoredOptions == ["v=4", "amp;h=20", "l=9", "il", "W=3", "format=jpg"])
        let many = try wsrvQuery(
            "url=example.com&" + String(repeating: "x=\(String(repeating: "y", count: 90))&", count: 80))
        #expect(many.ignoredOptions.count == 32)
        #expect(many.ignoredOptions.allSatisfy { $0.utf8.count == 64 })
    }

    @Test func `TIFF cannot be requested`() {
        for name in ["tiff", "tif"] {
            #expect { try wsrvQuery("url=example.com&output=\(name)") } throws: { error in
                let error = error as? APIError
                return error?.code == "unsupported_option" && error?.parameter == "output"
            }
        }
    }

    @Test(arguments: [
        String(repeating: "w=1&", count: 2_000), String(repeating: "&", count: 8_000),
        String(repeating: "=", count: 8_000), "delay=" + String(repeating: "9,", count: 4_000),
        "mod=" + String(repeating: ",", count: 8_000), "sharp=" + String(repeating: "1e9,", count: 2_000),
        "w=" + String(repeating: "9", count: 8_000), "h=-" + String(repeating: "9", count: 8_000),
        "dpr=1e" + String(repeating: "9", count: 8_000), "blur=0." + String(repeating: "0", count: 8_000) + "1",
        "cx=" + String(repeating: "%25", count: 2_600), "bg=" + String(repeating: "%23", count: 2_600),
        "a=focal" + String(repeating: "-", count: 8_000), "dpr=nan&w=inf&gam=-inf&hue=-2147483648&ro=-2147483648",
        "w=2147483647&h=2147483648&q=99999999999999999999&page=-9&n=-2&trim=256&loop=99999999",
        "%=%&%00=%00&\u{212A}=1",
    ])
    func `hostile targets are parsed and computed within bounds`(query: String) throws {
        for source in [(1, 1), (65_535, 65_535), (1, 60_000)] {
            let draft = try wsrvComposition(query, source.0, source.1)
            #expect(draft.size.width >= 1 && draft.size.height >= 1)
        }
    }
}
