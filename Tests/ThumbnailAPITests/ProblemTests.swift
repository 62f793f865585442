import Dialects
import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct ProblemTests {
    private func text(_ error: any ServiceError, revealsRules: Bool = false) -> String {
        Problem(error, requestID: "r", common: [:], revealsRules: revealsRules).text
    }

    @Test func `valid alternatives are listed beside the faulty value`() {
        #expect(
            text(APIError.badChoice("flip", allowed: ["h", "v", "hv"])).contains(
                #""detail":"Must be h, v or hv.","code":"bad_parameter","parameter":"flip","allowed":["h","v","hv"],"#))
        #expect(
            text(APIError.unknown("widht", among: ["w", "width"])).contains(
                #""code":"unknown_parameter","parameter":"widht","nearest":"width","#))
        let plain = text(APIError.unknown("size", among: ["w", "width"]))
        #expect(plain.contains(#""detail":"Unknown parameter.""#))
        #expect(!plain.contains("nearest") && !plain.contains("allowed"))
    }

    @Test func `the rule behind a rejection is disclosed only where there are no strangers`() {
        let denied = StubError(
            status: .forbidden, code: .sourceNotAllowed, category: .policy, logDetail: "allowedPorts: 81")
        #expect(!text(denied).contains("81"))
        #expect(text(denied, revealsRules: true).contains("\"The source is not fetched: allowedPorts: 81.\""))
        let broken = StubError(logDetail: "10.0.0.1 reset")
        #expect(!text(broken, revealsRules: true).contains("10.0.0.1"))
    }

    @Test func `a rejection's rule is disclosed to the demo's guests and always logged`() async {
        let denied = StubError(
            status: .forbidden, code: .sourceNotAllowed, category: .policy, logDetail: "allowedPorts: 81")
        for revealsRules in [false, true] {
            let listener = PublicListenerFixture(StubThumbnails(make: { _ in throw denied })) {
                $0.revealsRules = revealsRules
                $0.accessLog = .off
            }
            #expect(await listener.respond("/thumbnail?url=x:y").text.contains("allowedPorts") == revealsRules)
            #expect(listener.log.lines.last?["detail"] == "allowedPorts: 81")
        }
    }
}
