import Testing
import ThumbnailAPI

@testable import alula

struct ExplanationSummaryTests {
    @Test func `verdicts and options are counted, the most frequent first`() {
        var summary = ExplanationSummary()
        var ignoring = TargetExplanation(.ignores, dialect: "imgproxy")
        ignoring.ignored = ["sm:0", "sm:1", "scp:0"]
        summary.add(ignoring, of: "/a")
        ignoring.ignored = ["scp"]
        summary.add(ignoring, of: "/b")
        summary.add(TargetExplanation(.works), of: "/c")
        let refused = TargetExplanation(
            .refused(code: "unsupported_option", reason: "It is not in the free edition.", parameter: "dpi"))
        summary.add(refused, of: "/d")
        summary.add(refused, of: "/e")
        summary.add(TargetExplanation(.refused(code: "bad_signature", reason: "No.", parameter: nil)), of: "/f")
        #expect(summary.refusedCount == 3)
        #expect(
            summary.lines == [
                "6 URLs", "       1  works", "       2  ignores", "       3  refused", "ignored options:",
                "       2  scp", "       1  sm", "refused because of:",
                "       2  unsupported_option dpi: It is not in the free edition. /d",
                "       1  bad_signature: No. /f",
            ])
    }

    @Test func `nothing but a count is said about a list that works`() {
        var summary = ExplanationSummary()
        summary.add(TargetExplanation(.works), of: "/a")
        #expect(summary.lines == ["1 URL", "       1  works", "       0  ignores", "       0  refused"])
    }
}
