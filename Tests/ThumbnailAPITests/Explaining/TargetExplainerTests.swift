import Imaging
import JSON
import Testing
import Text
import ThumbnailPipeline

@testable import ThumbnailAPI

struct TargetExplainerTests {
    private var configuration = APIConfiguration()

    private func explain(_ text: String, for header: ImageHeader = TargetExplainer.assumed()) -> TargetExplanation {
        TargetExplainer(configuration, PipelineConfiguration()).explanation(of: text, for: header)
    }

    @Test func `a target of the own dialect is shown in its main names, with its steps`() {
        let explanation = explain("/thumbnail?url=https%3A%2F%2Fh%2Fa.jpg&width=300&h=300&fit=cover&blur=2")
        #expect(explanation.verdict == .works && explanation.dialect == "thumbnail")
        #expect(explanation.source == "https://h/a.jpg" && explanation.assumedSource == "3000x2000 jpeg")
        #expect(explanation.parameters.map { "\($0.name)=\($0.value)" } == ["w=300", "h=300", "fit=cover", "blur=2"])
        #expect(
            explanation.steps == [
                "page 0 level 2 refuse", "resample 450x300 linear.2", "crop 75,0 300x300", "blur 200000", "jpeg.2 80",
            ])
    }

    @Test func `the steps follow the source that is assumed`() throws {
        let header = try #require(TargetExplainer.header("400x300.png"))
        let explanation = explain("/thumbnail?url=https%3A%2F%2Fh%2Fa&w=300&h=300&fit=cover", for: header)
        #expect(explanation.assumedSource == "400x300 png")
        #expect(explanation.steps.contains("resample 400x300 linear.2"))
        for text in ["", "400", "400x", "0x3", "400x300.exe", "100000x2", "4x4x4", "4x4."] {
            #expect(TargetExplainer.header(text) == nil, "\(text)")
        }
        #expect(TargetExplainer.header("4x3.jpg")?.format == .jpeg)
    }

    @Test func `a whole URL counts without its host and its fragment`() {
        for prefix in ["http://h:80", "https://images.example.com"] {
            #expect(explain(prefix + "/thumbnail?url=x%3Ay&w=3#f").source == "x:y")
        }
        #expect(explain("https://h").word == "refused")
    }

    @Test func `a refusal names the code, the reason and the parameter`() {
        #expect(
            explain("/thumbnail?url=x&w=abc").verdict
                == .refused(
                    code: "bad_parameter", reason: "Must be a whole number from 1 to 16384.", parameter: "w"))
        let unknown = explain("/nothing/here")
        #expect(unknown.dialect == nil && unknown.json.text.contains(#""code":"no_such_route""#))
        #expect(explain("/health/live").word == "refused")
    }

    @Test func `options that mean nothing are listed, and a signature is judged`() {
        var tester = self
        let dialect = IgnoringDialect()
        tester.configuration.otherDialects = [dialect]
        let explanation = tester.explain("/i/x")
        #expect(explanation.verdict == .ignores && explanation.ignored == ["sm:0"])
        #expect(explanation.lines.last == "ignored     sm:0")
        tester.configuration.signingKeys = [[UInt8](0..<32)]
        #expect(tester.explain("/i/x").word == "refused")
        #expect(tester.explain("/thumbnail?url=x%3Ay").json.text.contains(#""code":"bad_signature""#))
    }
}

/// A dialect that reads everything and ignores an option.
private struct IgnoringDialect: Dialect {
    let name = "imgproxy"
    let signatures = DialectSignatures.none

    func claim(on target: String) -> DialectClaim { target.hasPrefix("/i/") ? .certain : .none }

    func isAuthentic(_ target: RequestedTarget) -> Bool { true }

    func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        var query = ThumbnailQuery(request: ThumbnailRequest(source: "https://h/a.png"))
        query.ignoredOptions = ["sm:0"]
        return query
    }
}
