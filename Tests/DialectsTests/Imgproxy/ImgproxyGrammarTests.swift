import Crypto
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

struct ImgproxyGrammarTests {
    private static let url = "https://example.com/a.jpg"

    private static func base64(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    private func source(
        _ path: String, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> String {
        try ImgproxyFixture.query(path, configure).source.string
    }

    @Test func `a plain source is decoded once`() throws {
        #expect(try source("plain/" + Self.url) == Self.url)
        #expect(try source("w:1/plain/https%3A%2F%2Fexample.com%2Fa.jpg") == Self.url)
        #expect(try source("plain/https://h/a%20b%20(1).png") == "https://h/a%20b%20(1).png")
        #expect(try source("plain/https://h/a%2520b.png") == "https://h/a%20b.png")
        #expect(try source("plain/https://h/%C3%A9.png?x") == "https://h/%C3%A9.png")
        #expect(try source("plain/https://h/a%3Fv=1") == "https://h/a?v=1")
        #expect(try source("plain/https://h/a/") == "https://h/a/")
    }

    @Test func `the query of the request does not belong to the source`() throws {
        #expect(try source("w:100/plain/https://h/a.jpg?v=1&w=50") == "https://h/a.jpg")
    }

    @Test func `lost slashes and escaped colons are repaired`() throws {
        #expect(try source("plain/https:/example.com/a.jpg") == Self.url)
        #expect(try source("plain/https://h/a:/b") == "https://h/a:/b")
        #expect(try source("/plain/https://h/a") == "https://h/a")
        #expect(try ImgproxyFixture.options("rs%3Afit%3A10%3A20").height == 20)
    }

    @Test func `base64 may be split anywhere and padded`() throws {
        let text = Self.base64(Self.url)
        let pieces = stride(from: 0, to: text.count, by: 7).map { String(text.dropFirst($0).prefix(7)) }
        for path in [
            text, "w:1/" + text, pieces.joined(separator: "/"), "w:1//" + text, text + "=", text + "==", text + ".",
        ] {
            #expect(try source(path) == Self.url, "\(path)")
        }
    }

    @Test func `formats follow a point after base64 and an at sign after plain text`() throws {
        let text = Self.base64(Self.url)
        func format(_ path: String) throws -> ImgproxyFormat? {
            let recipe = try ImgproxyFixture.query(path).recipe.recipe as? ImgproxyRecipe
            return recipe?.options.format
        }
        #expect(try format(text + ".webp") == .webp && format("plain/https://h/a@png") == .png)
        #expect(try format("f:avif/plain/https://h/a@jpg") == .jpeg)
        #expect(try format("f:avif/plain/https://h/a@") == .avif)
        #expect(try format("plain/https://h/a%40webp") == nil)
        #expect(try format("raw:1/plain/https://h/a@foo") == nil)
    }

    @Test func `a file name after base64 is ignored if the setting says so`() throws {
        let text = Self.base64(Self.url)
        #expect(try source("w:1/\(text).png/pretty-name.jpg") { $0.ignoresNameAfterBase64 = true } == Self.url)
        #expect(
            try source("\(text.prefix(9))/\(text.dropFirst(9))/a.b.c") { $0.ignoresNameAfterBase64 = true } == Self.url)
        #expect(try source(text) { $0.ignoresNameAfterBase64 = true } == Self.url)
        #expect(ImgproxyFixture.fault("\(text)/a.b.c") != nil)
    }

    @Test(arguments: [
        "plain/", "w:1/", "w:1", "plain", "w:1/plain", "!!!", "a", "plain/%", "plain/%zz", "plain/%4", "plain/a@b@c",
        "YQ.png.webp", ".png", "plain/@png", "//plain/https://h/a", "plain/%FF", "/w8", "fill/300/200/ce/0/YQ.jpg",
        "fit/plain/https://h/a", "force", "rs%3afit%3a100%3a100/plain/https://h/a",
    ])
    func `an invalid source is a URL error`(path: String) {
        guard ImgproxyFixture.fault(path)?.code == "bad_url" else {
            Issue.record("\(path): \(String(describing: ImgproxyFixture.fault(path)))")
            return
        }
    }

    @Test func `prefixes of sources are replaced before the base URL is prepended`() throws {
        func replaced(_ path: String, _ pattern: String, _ replacement: String, base: String = "") throws -> String {
            try source("plain/" + path) { configuration in
                configuration.replacements = [ImgproxyReplacement(pattern: pattern, replacement: replacement)]
                    .compactMap(\.self)
                configuration.baseURL = SourceBase(base)
            }
        }
        #expect(try replaced("cdn://x/a.jpg", "cdn://*/", "https://h/") == "https://h/a.jpg")
        #expect(try replaced("cdn://x/y/a.jpg", "cdn://*/*/", "https://$2.h/${1}/") == "https://y.h/x/a.jpg")
        #expect(try replaced("cdn:/a", "cdn://*/", "https://h/") == "cdn://a")
        #expect(try replaced("cdn://a-b-c/d", "cdn://*-*/", "https://$1.$2/") == "https://a-b.c/d")
        #expect(try replaced("a.jpg", "x", "y", base: "https://h/") == "https://h/a.jpg")
        #expect(try replaced("https://h/a.jpg", "x", "y", base: "https://h/") == "https://h/a.jpg")
        #expect(try replaced("x/a.jpg", "x/", "https://h/", base: "https://h/") == "https://h/a.jpg")
        #expect(ImgproxyReplacement(pattern: "*****", replacement: "") == nil)
        // Neither the text after the prefix nor the match of a star can extend or change a host.
        #expect(try replaced("cdn://.evil/a", "cdn://", "https://h") == "https://h/.evil/a")
        #expect(try replaced("cdn:///a", "cdn://", "https://h") == "https://h/a")
        #expect(try replaced("cdn://0/a", "cdn://", "https://h:8") == "https://h:8/0/a")
        #expect(try replaced("cdn://e%3F/a", "cdn://*/", "https://$1.h/") == "cdn://e?/a")
        #expect(try replaced("cdn://e%23/a", "cdn://*/", "https://$1.h/") == "cdn://e#/a")
        #expect(try replaced("cdn://e%3F/a", "cdn://*/", "https://h/$1/") == "https://h/e?/a")
    }

    @Test(arguments: [
        (".evil/a", "https://h", "https://h/.evil/a"), ("%40evil/a", "https://h", "https://h/@evil/a"),
        ("0/a", "http://h:8", "http://h:8/0/a"), ("/a", "https://h", "https://h/a"),
        ("/a", "https://h/b", "https://h/b/a"),
        ("https://h.evil/a", "https://h", "https://h/https://h.evil/a"), ("https://h/a", "https://h", "https://h/a"),
        ("c", "https://h/b", "https://h/bc"), ("a", "media:", "media:a"),
        ("evil/a", "https://", "https://evil/a"), ("a", "https://h?u=", "https://h?u=a"),
    ])
    func `no source extends the host of the base URL`(path: String, base: String, expected: String) throws {
        #expect(try source("plain/" + path) { $0.baseURL = SourceBase(base) } == expected)
    }

    @Test func `local files have their own source if a setting allows it`() throws {
        #expect(try source("plain/local:///a/b.jpg") { $0.localOrigin = "files" } == "files:a/b.jpg")
        #expect(try source("plain/local:/a/b.jpg") { $0.localOrigin = "files" } == "files:a/b.jpg")
        #expect(try source("plain/local:///a/b.jpg") == "local:///a/b.jpg")
    }

    @Test func `arguments may be separated by other texts`() throws {
        let query = try ImgproxyFixture.query("rs--fit--300--200/\(ImgproxyFixture.source)") {
            $0.argumentsSeparator = "--"
        }
        #expect((query.recipe.recipe as? ImgproxyRecipe)?.options.width == 300)
        #expect(ImgproxyFixture.fault("w:300/\(ImgproxyFixture.source)") { $0.argumentsSeparator = "," } != nil)
    }

    @Test func `presets are options, the default one before all others`() throws {
        func options(_ path: String) throws -> ImgproxyOptions {
            try ImgproxyFixture.options(path) {
                $0.presets = [
                    "default": "rt:fill/g:no", "thumb": "s:120:80/q:70", "card": "rt:fit/w:300/pr:thumb:card",
                ]
            }
        }
        var plain = try options("")
        #expect(plain.resizingType == .fill && plain.gravity.kind == .north)
        plain = try options("pr:thumb/w:50")
        #expect(plain.width == 50 && plain.height == 80 && plain.quality == 70)
        // A preset that contains itself is ignored.
        let card = try options("pr:card")
        #expect(card.resizingType == .fit && card.width == 120)
        #expect(try options("rt:fit").resizingType == .fit)
    }

    @Test func `presets of the settings file take precedence over the environment's`() throws {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/")
        configuration.presets = ["a": "w:1", "b": "h:2"]
        var vocabulary = Vocabulary()
        vocabulary.dialectPresets = ["a": "w:3"]
        let dialect = try #require(ImgproxyDialect(configuration, vocabulary: vocabulary))
        let query = try dialect.request(in: RequestedTarget("/_/pr:a:b/\(ImgproxyFixture.source)"))
        let options = try #require(query.recipe.recipe as? ImgproxyRecipe).options
        #expect(options.width == 3 && options.height == 2)
    }

    @Test func `only presets may be allowed`() throws {
        func configure(_ configuration: inout ImgproxyConfiguration) {
            configuration.presets = ["thumb": "s:120:80", "card": "w:300/f:png"]
            configuration.allowsOnlyPresets = true
        }
        let query = try ImgproxyFixture.query("thumb:card/plain/https://h/a@webp", configure)
        let options = try #require(query.recipe.recipe as? ImgproxyRecipe).options
        #expect(options.width == 300 && options.height == 80 && options.format == .webp)
        #expect(ImgproxyFixture.fault("pr:thumb/plain/https://h/a", configure) != nil)
        #expect(ImgproxyFixture.fault("w:300/plain/https://h/a", configure) != nil)
    }

    @Test func `a preset that can never work is reported by name`() {
        var configuration = ImgproxyConfiguration()
        configuration.presets = ["a": "w:1/pr:b", "b": "h:2", "c": "w", "d": "w:x", "e": "pr:f", "g": "br:10"]
        let faults = configuration.presetFaults(Vocabulary())
        #expect(faults.map { $0.prefix(8) } == ["preset c", "preset d", "preset e", "preset g"])
    }

    @Test func `disallowed options are rejected in any spelling, but not in presets`() throws {
        func configure(_ configuration: inout ImgproxyConfiguration) {
            configuration.allowedOptions = ["w", "pr"]
            configuration.presets = ["a": "h:5"]
        }
        #expect(try ImgproxyFixture.options("w:1/pr:a", configure).height == 5)
        #expect(ImgproxyFixture.fault("h:1/\(ImgproxyFixture.source)", configure)?.parameter == "h")
        #expect(ImgproxyFixture.fault("width:1/\(ImgproxyFixture.source)", configure)?.parameter == "width")
    }

    @Test func `Pro options are distinguished from unknown ones`() {
        for (path, parameter) in [
            ("br:10", "br"), ("pngo:1", "pngo"), ("dpi:300", "dpi"), ("ra:nearest", "ra"), ("g:obj:cat", "g"),
            ("g:obj", "g"),
            ("g:obj:face:cat", "g"),
            ("c:1:1:objw:all:2", "c"), ("enc/abc", "enc"), ("w:1/-/h:5", "-"),
        ] {
            let fault = ImgproxyFixture.fault("\(path)/\(ImgproxyFixture.source)")
            guard fault?.code == "unsupported_option", fault?.parameter == parameter else {
                Issue.record("\(path): \(String(describing: fault))")
                continue
            }
        }
        for name in ["foo", "W", "w ", "\u{212A}cr", "resize_", ""] {
            let fault = ImgproxyFixture.fault("\(name):1/\(ImgproxyFixture.source)")
            guard fault?.code == "bad_parameter", fault?.parameter == name else {
                Issue.record("\(name): \(String(describing: fault))")
                continue
            }
        }
    }

    @Test func `formats that Alula cannot encode are rejected`() {
        for format in ["tiff", "bmp", "ico", "heic"] {
            let fault = ImgproxyFixture.fault("plain/https://h/a@\(format)")
            guard fault?.code == "unsupported_option", fault?.parameter == "format" else {
                Issue.record("\(format)")
                continue
            }
            #expect(ImgproxyFixture.fault("raw:1/f:\(format)/plain/https://h/a") == nil)
        }
    }

    @Test func `a path is a prefix`() {
        let dialect = ImgproxyFixture.dialect { $0.prefix = PathPrefix("/img") }
        #expect(dialect.match(on: "/img/_/plain/x") == .exact && dialect.match(on: "/image/_/plain/x") == .none)
        #expect(throws: Never.self) { try dialect.request(in: RequestedTarget("/img/_/plain/https://h/a")) }
        #expect(ImgproxyDialect(ImgproxyConfiguration()) == nil)
    }
}
