import HTTPTypes
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Client hints: `w=auto`, `dpr=auto` and `Save-Data`.
@Suite struct ClientHintsTests {
    private static let url = "/thumbnail?url=https%3A%2F%2Fh.example%2Fa.jpg"

    private static func dialect(_ rule: SizePolicy.Rule = .reject, _ sizes: [Int] = [320, 640, 960]) -> NativeDialect {
        var vocabulary = Vocabulary()
        if !sizes.isEmpty { vocabulary.sizes.sizes = sizes }
        vocabulary.sizes.rule = rule
        return NativeDialect(vocabulary: vocabulary)
    }

    /// The box of a target's result and the fields that affected it, such as `640x- Sec-CH-Width`.
    private static func answer(
        _ query: String, _ fields: HTTPFields, of dialect: NativeDialect = dialect()
    ) throws -> String {
        let target = RequestedTarget(url + "&" + query, hints: ClientHints(fields))
        let read = try dialect.request(in: target)
        let box = try #require(read.nativeOptions).box
        return "\(box.width.map(String.init) ?? "-")x\(box.height.map(String.init) ?? "-") "
            + read.hintFields.names.joined(separator: ",")
    }

    @Test(
        arguments: [
            ("w=auto", [.secCHWidth: "700"], "960x- Sec-CH-Width"),
            ("w=auto", [.secCHWidth: "640"], "640x- Sec-CH-Width"),
            ("w=auto", [.secCHWidth: "99", .width: "700"], "320x- Sec-CH-Width"),
            ("w=auto", [.width: "321"], "640x- Sec-CH-Width,Width"),
            ("w=auto", [.secCHWidth: "16384"], "960x- Sec-CH-Width"),
            ("w=auto", [.secCHWidth: "16385"], "960x- Sec-CH-Width"),
            ("w=auto", [.secCHWidth: "999999999999999"], "960x- Sec-CH-Width"),
            ("w=80&dpr=auto", [.secCHDPR: "8.001"], "640x- Sec-CH-DPR"),
            ("w=80&dpr=auto", [.secCHDPR: "999999999999.999"], "640x- Sec-CH-DPR"),
            ("w=auto", [:], "640x- Sec-CH-Width,Width"),
            ("w=auto&dpr=2", [.secCHWidth: "700"], "960x- Sec-CH-Width"),
            ("w=auto&h=320&fit=cover", [.secCHWidth: "2"], "320x320 Sec-CH-Width"),
            ("w=300", [.secCHWidth: "700", .dpr: "2", .saveData: "on"], "300x- "),
            ("w=300&dpr=auto", [.secCHDPR: "2"], "640x- Sec-CH-DPR"),
            ("w=300&dpr=auto", [.dpr: "2.625"], "960x- Sec-CH-DPR,DPR"),
            ("w=300&dpr=auto", [:], "320x- Sec-CH-DPR,DPR"),
            ("w=200&h=99&dpr=auto&fit=fill", [.secCHDPR: "1.5"], "320x320 Sec-CH-DPR"),
            ("w=auto&dpr=auto", [.secCHWidth: "500", .secCHDPR: "3"], "640x- Sec-CH-Width,Sec-CH-DPR"),
            ("w=auto&dpr=auto", [:], "640x- Sec-CH-Width,Width,Sec-CH-DPR,DPR"),
        ] as [(String, HTTPFields, String)])
    func `sizes are the client's, rounded up to allowed ones`(
        query: String, fields: HTTPFields, expected: String
    ) throws {
        #expect(try Self.answer(query, fields) == expected)
        // The size policy allows every size that hints choose.
        let target = RequestedTarget(Self.url + "&" + query, hints: ClientHints(fields))
        guard query.contains("auto") else { return }
        var sizes = SizePolicy()
        sizes.sizes = [320, 640, 960]
        #expect(throws: Never.self) { try ClientPolicy(sizes).request(in: target, of: Self.dialect()) }
    }

    @Test(arguments: [
        "", "0", "-1", "99999999999999999999", "1e3", "0x10", "７００", "700;a=1", "\"700\"", "700, 800", "+7",
        "7.5",
    ])
    func `an invalid width counts as absent`(text: String) throws {
        #expect(try Self.answer("w=auto", [.secCHWidth: text]) == "640x- Sec-CH-Width,Width")
        #expect(try Self.answer("w=auto", [.secCHWidth: text, .width: "5"]) == "320x- Sec-CH-Width,Width")
    }

    @Test(arguments: [
        "", "0", "0.4999", "0.499", "-2", "2.", ".5", "2.6250", "1.1.1", "1e0", "nan", "1,5",
        "9999999999999999999",
    ])
    func `an invalid ratio counts as absent`(text: String) throws {
        #expect(try Self.answer("w=300&dpr=auto", [.secCHDPR: text]) == "320x- Sec-CH-DPR,DPR")
    }

    @Test func `auto needs sizes, and a box for a ratio`() throws {
        let without = Self.dialect(.reject, [])
        #expect(throws: APIError.badParameter("w", "auto needs the setting sizes.")) {
            try Self.answer("w=auto", [:], of: without)
        }
        #expect(throws: APIError.badParameter("dpr", "auto needs the setting sizes.")) {
            try Self.answer("w=3&dpr=auto", [:], of: without)
        }
        #expect(throws: APIError.sizeNotAllowed("w", allowed: [320, 640, 960])) {
            try Self.answer("dpr=auto", [.dpr: "2"])
        }
        #expect(try Self.answer("dpr=auto", [.dpr: "2"], of: Self.dialect(.up)) == "960x- Sec-CH-DPR,DPR")
    }

    @Test func `a request takes precedence over auto in a preset, and the reverse`() throws {
        var vocabulary = Vocabulary()
        vocabulary.sizes.sizes = [320, 640]
        vocabulary.presets["auto"] = [("w", "auto")]
        vocabulary.presets["fixed"] = [("w", "500")]
        let dialect = NativeDialect(vocabulary: vocabulary)
        #expect(try Self.answer("preset=auto", [.width: "5"], of: dialect) == "320x- Sec-CH-Width,Width")
        #expect(try Self.answer("preset=auto&w=77", [.width: "5"], of: dialect) == "77x- ")
        #expect(try Self.answer("preset=fixed&w=auto", [.width: "5"], of: dialect) == "320x- Sec-CH-Width,Width")
    }

    /// The quality of a target's JPEG result, and the fields that affected it.
    private static func quality(_ target: String, _ dialect: any Dialect, _ save: String?) throws -> String {
        let fields = HTTPFields(save.map { [HTTPField(name: .saveData, value: $0)] } ?? [])
        let query = try ClientPolicy(saveDataQuality: 40).request(
            in: RequestedTarget(target, hints: ClientHints(fields)), of: dialect)
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_200, height: 800))
        let plan = try RenderPlan(
            for: query, of: PerSource(header, additional: []), by: PipelineConfiguration())
        guard case .fixed(let quality) = plan.quality else { return "auto" }
        return "\(quality) \(query.hintFields.names.joined(separator: ","))"
    }

    @Test func `save-data lowers the quality in all grammars, unless the target names it`() throws {
        var (imgproxy, thumbor) = (ImgproxyConfiguration(), ThumborConfiguration())
        (imgproxy.prefix, thumbor.prefix) = (PathPrefix("/i"), PathPrefix("/t"))
        let source = "url=https%3A%2F%2Fh.example%2Fa.jpg"
        let cases: [(any Dialect, String, String)] = [
            (Self.dialect(), Self.url + "&w=300&format=jpeg", "&q=70"),
            (try #require(ImgproxyDialect(imgproxy)), "/i/_/w:300", "/q:70"),
            (try #require(ThumborDialect(thumbor)), "/t/unsafe/300x0", "/filters:quality(70)"),
            (WsrvDialect(at: try #require(PathPrefix("/w"))), "/w?\(source)&w=300", "&q=70"),
            (
                NetlifyDialect(at: try #require(PathPrefix("/n")), base: nil), "/n?\(source)&w=300&fm=jpg", "&q=70"
            ),
        ]
        for (dialect, target, named) in cases {
            let end = target.contains("?") ? "" : dialect.name == "imgproxy" ? "/plain/https://h/a.jpg" : "/h/a.jpg"
            #expect(try Self.quality(target + end, dialect, "on") == "40 Save-Data", "\(dialect.name)")
            for absent in [nil, "off", "On", "on;a"] {
                let quality = try Self.quality(target + end, dialect, absent)
                #expect(!quality.hasPrefix("40 ") && quality.hasSuffix(" Save-Data"), "\(dialect.name)")
            }
            #expect(try Self.quality(target + named + end, dialect, "on") == "70 ", "\(dialect.name)")
        }
        #expect(try Self.quality(Self.url + "&w=300&format=png", Self.dialect(), "on").hasSuffix(" "))
        #expect(try Self.quality(Self.url + "&w=300&q=auto", Self.dialect(), "on") == "auto")
    }

    @Test func `a quality is only lowered`() throws {
        let rules = { (limit: Int?) in
            var rules = RenderingRules()
            rules.defaultQualityLimit = limit
            return rules
        }
        #expect(
            rules(40).defaultQuality(80) == 40 && rules(90).defaultQuality(80) == 80
                && rules(nil).defaultQuality(80) == 80)
    }
}
