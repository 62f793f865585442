import JSON
import Testing
import Text

@testable import ThumbnailAPI
@testable import ThumbnailPipeline

/// Values per origin for operators; clients can name any number of origins.
struct OriginValuesTests {
    private func origin(_ name: String, _ state: OriginStatus.State, isProven: Bool = false) -> OriginStatus {
        OriginStatus(origin: name, state: state, retryAfterSeconds: nil, isProven: isProven)
    }

    @Test func `fifty origins are listed and all are counted, first failing ones that clients cannot invent`() {
        let strangers = (0..<4_000).map { origin("https://s\($0):443", $0 % 2 == 0 ? .suspended : .notReachable) }
        let ours = [
            origin("https://up:443", .reachable, isProven: true),
            origin("https://lost:443", .notReachable, isProven: true),
            origin("https://down:443", .suspended, isProven: true),
        ]
        let text = JSONValue.worstOrigins(strangers + ours).text
        guard case .array(let listed) = JSONValue.worstOrigins(strangers + ours) else {
            Issue.record("no list")
            return
        }
        #expect(listed.count == 50 && text.utf8.count < 5_000)
        let names = listed.prefix(3).compactMap { $0.members?["origin"]?.text }
        #expect(names == [#""https://down:443""#, #""https://lost:443""#, #""https://s0:443""#])
        #expect(
            JSONValue.originCounts(strangers + ours).text
                == #"{"unknown":0,"reachable":1,"not_reachable":2001,"suspended":2001,"held":0}"#)
    }
}
