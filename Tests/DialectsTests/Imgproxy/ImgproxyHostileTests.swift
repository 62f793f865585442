import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Dialects

/// Hostile targets are rejected, or parsed in linear time.
@Suite(.timeLimit(.minutes(1)))
struct ImgproxyHostileTests {
    private static let longest = 8_192

    private static func filled(_ piece: String) -> String {
        String(repeating: piece, count: (longest - 64) / piece.utf8.count)
    }

    @Test(arguments: [
        "/", ":", "@", ".", "%", "%3A", "%3A/", "w:1/", "pr:default/", "plain/", "a", "//plain", "-/", "::/", "w:/",
        "%00/", "http:/", "c:1:1:fp:0:0/", "é", "\u{0}", "=", "A/", "w%3A1/",
    ])
    func `long targets of one repeated text are parsed or rejected`(piece: String) {
        let path = Self.filled(piece)
        for target in ["/_/" + path, "/_/" + path + "plain/https://h/a", "/" + path, "/_/plain/" + path] {
            let dialect = ImgproxyFixture.dialect { $0.presets = ["default": "w:5/h:6/el:1"] }
            let requested = RequestedTarget(target)
            _ = dialect.isAuthentic(requested)
            _ = try? dialect.request(in: requested)
        }
    }

    @Test func `presets that repeat each other are bounded`() {
        let fault = ImgproxyFixture.fault("\(Self.filled("pr:a:a:a:a:a:a:a:a/"))\(ImgproxyFixture.source)") {
            $0.presets = ["a": "pr:b:b:b:b:b:b:b:b", "b": "pr:c:c:c:c:c:c:c:c", "c": "w:1/w:1/w:1/w:1"]
        }
        #expect(fault == .badParameter("preset", "Too many options."))
    }

    @Test func `patterns with stars take at most quadratic time`() throws {
        let pattern = try #require(ImgproxyReplacement(pattern: "http://*.*.*.*.example.com/", replacement: "x"))
        let source = Array(("http://" + String(repeating: ".", count: 500)).utf8)
        #expect(pattern.applied(to: source) == source)
    }

    @Test(arguments: [
        "w:9223372036854775808", "w:-9223372036854775809", "z:1e308", "dpr:1e-308", "c:1e99", "pd:2147483648",
        "rot:9223372036854775800", "exp:99999999999999999999", "mb:99999999999999999999", "bl:1e10", "t:1e10",
        "g:ce:1e10", "wm:1:ce:1e300", "q:-9223372036854775808", "bg:-1:0:0", "pix:99999999999", "maf:1e9",
    ])
    func `numbers beyond all bounds are rejected`(option: String) {
        let name = String(option.prefix { $0 != ":" })
        let fault = ImgproxyFixture.fault("\(option)/\(ImgproxyFixture.source)") { $0.allowsSecurityOptions = true }
        #expect(fault?.parameter == name)
    }

    @Test func `every target has a draft or an error`() throws {
        let headers = [
            ImageHeader.still(.jpeg, 1, 1), .still(.jpeg, 65_500, 1, orientation: 7),
            .still(.png, 16_000, 6_000, hasAlpha: true),
            .still(.gif, 3, 2, frames: 200), .still(.webp, 16_383, 16_383),
        ]
        for options in [
            "w:1000000000/el:1", "dpr:1e9/el:1/w:1e9", "pd:1000000000/dpr:1e9", "z:1e9/el:1", "mw:1000000000",
            "s:1000000000:1:1:1:no:1e9:1e9", "ex:1/s:1:1000000000/exar:1", "rs:fill-down:1000000000:1/g:fp:1:1",
            "c:1e-9:1e-9:fp:1:1/rot:270/fl:1:1", "wm:1:re:1e9:1e9:1e9", "wm:1:soea:-1e9:-1e9:1e-9",
            "t:0/w:1000000000/el:1",
            "pix:1000000000/bl:1e9/sh:1e9", "mrd:1/pd:1000000000",
        ] {
            for header in headers {
                guard
                    let recipe = try? ImgproxyFixture.recipe(
                        options, { ($0.allowsSecurityOptions, $0.watermark) = (true, "m:a") })
                else { continue }
                _ = try? RenderPlan(
                    recipe, source: header,
                    additions: [.still(.png, 500, 1, hasAlpha: true)])
            }
        }
    }
}
