import Dialects
import JSON
import Testing
import ThumbnailAPI

@testable import Commands

struct ExplanationSummaryTests {
    private func summary(_ explanations: [(TargetExplanation, String)]) -> ExplanationSummary {
        var summary = ExplanationSummary()
        for (index, entry) in explanations.enumerated() {
            summary.add(ListedURL(line: index + 1, url: entry.1, explanation: entry.0))
        }
        return summary
    }

    private let rejected = TargetExplanation(
        .rejected(code: "unsupported_option", reason: "It is not in the free edition.", parameter: "dpi"))

    private func ignoring(_ options: [String]) -> TargetExplanation {
        var explanation = TargetExplanation(.ignores, dialect: "imgproxy")
        explanation.ignored = options
        return explanation
    }

    @Test func `verdicts and options are counted, the most frequent first, each with a line and a whole URL`() {
        let long = "/" + String(repeating: "a", count: 300)
        let summary = summary([
            (ignoring(["sm:0", "sm:1", "scp:0"]), "/a"), (ignoring(["scp"]), "/b"),
            (TargetExplanation(.works), "/c"), (rejected, long), (rejected, "/e"),
            (TargetExplanation(.rejected(code: "bad_signature", reason: "No.", parameter: nil)), "/f"),
        ])
        #expect(summary.rejectedCount == 3)
        #expect(
            summary.lines == [
                "6 URLs", "       1  works", "       2  ignores", "       3  refused", "ignored options:",
                "       2  scp: line 1: /a", "       1  sm: line 1: /a", "refused because of:",
                "       2  unsupported_option dpi: It is not in the free edition. line 4: \(long)",
                "       1  bad_signature: No. line 6: /f",
            ])
    }

    @Test func `a list without faults has only a count`() {
        #expect(
            summary([(TargetExplanation(.works), "/a")]).lines
                == ["1 URL", "       1  works", "       0  ignores", "       0  refused"])
    }

    @Test func `a listed URL is reported with its line, fault and full text`() {
        let long = "/" + String(repeating: "a", count: 300)
        #expect(
            ListedURL(line: 7, url: long, explanation: rejected).text
                == "line 7: unsupported_option, dpi: It is not in the free edition.  " + long)
        #expect(ListedURL(line: 8, url: "/b", explanation: ignoring(["a", "b"])).text == "line 8: ignores a, b  /b")
        #expect(
            ListedURL(line: 9, url: "/c", explanation: TargetExplanation(.works)).json.text
                == #"{"line":9,"url":"/c","verdict":"works","ignored":[]}"#)
    }
}
