import HTTPTypes
import JSON
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailAPI

struct SlowRequestsTests {
    private let time = ManualTimekeeper()
    private let slow: SlowRequests

    init() { slow = SlowRequests(timekeeper: time) }

    private func end(_ target: String, after duration: Duration, route: Route = .none) {
        let begin = time.now
        time.advance(by: duration)
        let context = RequestContext(
            request: HTTPRequest(target: target), bodyLength: 0, startedAt: begin, route: route, tenant: nil)
        var outcome = Outcome(response: HTTPResponse(status: .ok))
        slow.complete(&outcome, to: context, at: time.now)
    }

    private var targets: [String] {
        guard case .array(let entries) = slow.json else { return [] }
        return entries.compactMap { entry in
            guard case .string(let text)? = entry.members?["target"] else { return nil }
            return text
        }
    }

    @Test func `the slowest come first, for ten minutes, without health checks and quick requests`() {
        end("/a", after: .milliseconds(200))
        end("/b", after: .seconds(2))
        end("/quick", after: .milliseconds(99))
        end("/health/ready", after: .seconds(5), route: .ready)
        end("/c", after: .seconds(1))
        #expect(targets == ["/b", "/c", "/a"])
        time.advance(by: .milliseconds(593_000))
        #expect(targets == ["/b", "/c"])
        time.advance(by: .seconds(600))
        #expect(targets.isEmpty)
    }

    @Test func `twenty are kept`() {
        for number in 1...30 { end("/\(number)", after: .milliseconds(100 + number)) }
        #expect(targets == (11...30).reversed().map { "/\($0)" })
    }
}
