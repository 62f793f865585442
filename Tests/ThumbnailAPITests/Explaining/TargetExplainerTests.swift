import Dialects
import Downloading
import JSON
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct TargetExplainerTests {
    private var configuration = APIConfiguration()

    private func explain(_ text: String, for header: ImageHeader = TargetExplainer.assumed()) -> TargetExplanation {
        TargetExplainer(configuration, pipeline: PipelineConfiguration()).explanation(of: text, for: header)
    }

    @Test func `a native target is shown in its main names, with its steps`() {
        let explanation = explain("/thumbnail?url=https%3A%2F%2Fh%2Fa.jpg&width=300&h=300&fit=cover&blur=2")
        #expect(explanation.verdict == .works && explanation.dialect == "thumbnail")
        #expect(explanation.source == "https://h/a.jpg" && explanation.assumedSource == "3000x2000 jpeg")
        #expect(explanation.parameters.map { "\($0.name)=\($0.value)" } == ["w=300", "h=300", "fit=cover", "blur=2"])
        #expect(
            explanation.steps == [
                "decode page 0, reduced to 1/2 of each side", "resize to 450×300 pixels in linear light",
                "crop to 300×300 pixels at 75, 0", "blur with a deviation of 2.0 pixels",
                "encode as jpeg with quality 80",
            ])
    }

    @Test func `the steps follow the assumed source`() throws {
        let header = try #require(TargetExplainer.header("400x300.png"))
        let explanation = explain("/thumbnail?url=https%3A%2F%2Fh%2Fa&w=300&h=300&fit=cover", for: header)
        #expect(explanation.assumedSource == "400x300 png")
        #expect(explanation.steps.contains("resize to 400×300 pixels in linear light"))
        for text in ["", "400", "400x", "0x3", "400x300.exe", "100000x2", "4x4x4", "4x4."] {
            #expect(TargetExplainer.header(text) == nil, "\(text)")
        }
        #expect(TargetExplainer.header("4x3.jpg")?.format == .jpeg)
    }

    @Test func `a whole URL is explained without its host and fragment`() {
        for prefix in ["http://h:80", "https://images.example.com"] {
            #expect(explain(prefix + "/thumbnail?url=x%3Ay&w=3#f").source == "x:y")
        }
        #expect(explain("https://h").verdictName == "refused")
    }

    @Test func `a rejection has the code, the reason and the parameter`() {
        #expect(
            explain("/thumbnail?url=x&w=abc").verdict
                == .rejected(
                    code: "bad_parameter", reason: "Must be a whole number from 1 to 16384.", parameter: "w"))
        let unknown = explain("/nothing/here")
        #expect(unknown.dialect == nil && unknown.json.text.contains(#""code":"no_such_route""#))
        #expect(explain("/health/live").verdictName == "refused")
    }

    @Test func `expiry and the source policy are checked, expiry first`() throws {
        var downloads = DownloadConfiguration()
        downloads.allowedSources = [try #require(SourcePattern("*.example.com"))]
        let explainer = TargetExplainer(
            configuration, pipeline: PipelineConfiguration(), rules: DownloadRules(downloads))
        func word(_ source: String, _ more: String = "", now: Int? = 100) -> String {
            let explanation = explainer.explanation(of: "/thumbnail?url=\(source)&w=3" + more, now: now)
            guard case .rejected(let code, _, _) = explanation.verdict else { return explanation.verdictName }
            #expect(explanation.steps.isEmpty == (code == "bad_parameter"))
            return code
        }
        #expect(word("https://a.example.com/b") == "works")
        #expect(word("https://a.example.org/b") == "source_not_allowed")
        #expect(word("https://10.0.0.1/b") == "source_not_allowed")
        #expect(word("nothing") == "bad_url")
        #expect(word("https://a.example.com/b", "&watermark=https://h/b") == "source_not_allowed")
        #expect(word("https://a.example.org/b", "&expires=100") == "expired")
        #expect(word("https://a.example.com/b", "&expires=101") == "works")
        #expect(word("https://a.example.com/b", "&expires=1", now: nil) == "works")
        // A policy that is not checked rejects nothing.
        #expect(explain("/thumbnail?url=https://10.0.0.1/b&w=3").verdictName == "works")
    }

    @Test func `another dialect's options are explained as parameters, and the rest in words`() throws {
        var tester = self
        tester.configuration.otherDialects = [WsrvDialect(at: try #require(PathPrefix("/w")))]
        let explanation = tester.explain(
            "/w/?url=example.com/a&w=300&h=200&fit=cover&a=top&flop&ro=90&blur=2&sharp=3&mask=circle&mbg=white&filt=greyscale"
                + "&q=70&output=webp&filename=cat&maxage=2d&default=example.com/b")
        func value(_ name: String) -> String? { explanation.parameters.first { $0.name == name }?.value }
        let expected = [
            "w": "300", "h": "200", "fit": "cover", "gravity": "top", "flip": "h", "rotate": "270", "blur": "2",
            "mask": "circle",
            "grayscale": "100", "format": "webp", "q": String(ImageFormat.webp.visualQuality(of: 70, pixels: 60_000)),
        ]
        for (name, text) in expected { #expect(value(name) == text, "\(name)") }
        #expect(explanation.parameters.count == expected.count)
        #expect(
            explanation.unexpressedSteps == [
                "sharpen the lightness with a deviation of 3.0 pixels, flat parts by 1.0, edges by 2.0"
            ])
        #expect(explanation.steps.count > 6 && explanation.steps.last == "encode as webp with quality 70")
        #expect(
            explanation.response == [
                "saved as cat", "clients may use it for 172800 s if the source is not private",
                "failures send the client to the image at http://example.com/b",
            ])
        #expect(explanation.lines.contains { $0.hasPrefix("besides     sharpen") })
        #expect(explanation.json.text.contains(#""answer":["saved as cat""#))
        let text = tester.explain("/w/?url=example.com/a&encoding=base64&trim=9&cbg=red&w=99&h=99&fit=contain")
        #expect(text.unexpressedSteps == ["write the file as a data: URL"])
        #expect(
            text.parameters.contains { $0 == ("trim", "9") }
                && text.parameters.contains { $0 == ("background", "ff0000") })
    }

    @Test func `ignored options are listed, and a signature is checked`() {
        var tester = self
        let dialect = IgnoringDialect()
        tester.configuration.otherDialects = [dialect]
        let explanation = tester.explain("/i/x")
        #expect(explanation.verdict == .ignores && explanation.ignored == ["sm:0"])
        #expect(explanation.lines.last == "ignored     sm:0")
        tester.configuration.signingKeys = [[UInt8](0..<32)]
        #expect(tester.explain("/i/x").verdictName == "refused")
        #expect(tester.explain("/thumbnail?url=x%3Ay").json.text.contains(#""code":"bad_signature""#))
    }
}

/// A dialect that parses every target and ignores an option.
private struct IgnoringDialect: Dialect {
    let name = "imgproxy"
    let signatures = DialectSignatures.none

    func match(on target: String) -> DialectMatch { target.hasPrefix("/i/") ? .exact : .none }

    func isAuthentic(_ target: RequestedTarget) -> Bool { true }

    func request(in target: RequestedTarget) throws(APIError) -> Request {
        var query = Request(source: "https://h/a.png")
        query.ignoredOptions = ["sm:0"]
        return query
    }
}
