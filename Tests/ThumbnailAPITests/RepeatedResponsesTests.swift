import HTTPTypes
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct RepeatedResponsesTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa%2Fphoto.png&w=300"
    private let slot = ResponseSlot()

    /// A listener with a cached result of this age in seconds.
    private func listener(age: Int?, isLogged: Bool = false, lifetime: Int = 60) -> PublicListenerFixture {
        let freshness = Freshness(lifetime: lifetime, age: age)
        return PublicListenerFixture(StubThumbnails(cached: .sample(freshness: freshness, slot: slot))) {
            $0.accessLog = isLogged ? .on : .off
        }
    }

    private func recurring(
        _ listener: PublicListenerFixture, _ target: String = target, _ fields: HTTPFields = [:]
    ) -> RecurringResponse? {
        guard
            case .recurring(let response, _) = listener.responder.respond(
                to: HTTPRequest(target: target, headerFields: fields))
        else { return nil }
        return response
    }

    @Test func `all requests within a second share one response`() throws {
        let listener = listener(age: 7)
        let first = try #require(recurring(listener))
        #expect(recurring(listener) === first)
        #expect(first.response.status == .ok)
        #expect(first.response.text == "picture")
        let expected: [HTTPField.Name: String] = [
            .age: "7", .eTag: "\"abc\"", .cacheControl: "public, max-age=60", .cacheStatus: "alula-result;hit",
            .serverTiming: "total;dur=0", .vary: "Accept", .xContentTypeOptions: "nosniff",
        ]
        for (name, value) in expected { #expect(first.response[name] == value, "\(name)") }
        #expect(first.response[.date] == HTTPDate(secondsSince1970: listener.time.secondsSince1970).imfFixdate)
        #expect(first.response[.xRequestID] == nil)
        #expect(listener.registry.prometheusText.contains("alula_requests_total{route=\"thumbnail\",status=\"200\"} 2"))
    }

    @Test func `another age, lifetime or target makes another response`() throws {
        let first = try #require(recurring(listener(age: 7)))
        let second = try #require(recurring(listener(age: 8)))
        #expect(second !== first)
        #expect(second.response[.age] == "8")
        let third = try #require(recurring(listener(age: 8, lifetime: 30)))
        #expect(third.response[.cacheControl] == "public, max-age=30")
        let fixed = try #require(recurring(listener(age: 8, lifetime: 30), Self.target + "&format=jpeg"))
        #expect(fixed.response[.vary] == nil)
    }

    @Test func `responses that vary by request are made for each`() {
        #expect(recurring(listener(age: 7, isLogged: true)) == nil)
        #expect(recurring(listener(age: 7), Self.target, [.ifNoneMatch: "\"x\""]) == nil)
        #expect(recurring(listener(age: 7), Self.target, [.ifModifiedSince: "x"]) == nil)
        #expect(recurring(listener(age: 7), Self.target + "&expires=4102444800") == nil)
    }

    @Test func `the recurring response equals that of the parsed request, and is counted`() throws {
        let listener = listener(age: 7)
        guard case .recurring(let first, let answer) = listener.responder.respond(to: HTTPRequest(target: Self.target))
        else {
            Issue.record("not a recurring answer")
            return
        }
        #expect(answer.response() === first)
        #expect(listener.registry.prometheusText.contains("alula_requests_total{route=\"thumbnail\",status=\"200\"} 2"))
        listener.thumbnails.cached = nil
        listener.thumbnails.cacheVersion = 1
        #expect(answer.response() == nil)
        listener.thumbnails.cached = .sample(freshness: Freshness(lifetime: 60, age: 7), slot: slot)
        #expect(answer.response() === first)
        listener.lifecycle.beginDraining()
        #expect(answer.response() == nil)
    }

    @Test func `the caches are queried once a second, and after an entry is evicted`() throws {
        let listener = listener(age: 7)
        guard case .recurring(let first, let answer) = listener.responder.respond(to: HTTPRequest(target: Self.target))
        else {
            Issue.record("not a recurring answer")
            return
        }
        for _ in 0..<3 { #expect(answer.response() === first) }
        #expect(listener.thumbnails.requests.count == 2)
        #expect(listener.thumbnails.repeatedHits == 2)
        listener.time.advance(by: .seconds(1))
        let next = try #require(answer.response())
        #expect(next.response[.date] == HTTPDate(secondsSince1970: listener.time.secondsSince1970).imfFixdate)
        #expect(next !== first && answer.response() === next)
        #expect(listener.thumbnails.requests.count == 3)
        listener.thumbnails.cached = .sample(freshness: Freshness(lifetime: 60, age: 8), slot: slot)
        listener.thumbnails.cacheVersion = 1
        let second = try #require(answer.response())
        #expect(second.response[.age] == "8")
        #expect(answer.response() === second)
        #expect(listener.thumbnails.requests.count == 4)
        #expect(listener.thumbnails.repeatedHits == 4)
        #expect(listener.registry.prometheusText.contains("alula_requests_total{route=\"thumbnail\",status=\"200\"} 8"))
    }

    @Test func `a logged response has its request's ID, and shares the constant fields`() async {
        let listener = listener(age: 7, isLogged: true)
        let first = await listener.respond(Self.target)
        let second = await listener.respond(Self.target)
        #expect(first[.xRequestID] != second[.xRequestID])
        #expect(first[.eTag] == second[.eTag])
        #expect(first[.serverTiming] == "total;dur=0.000")
        #expect(first.headerFields.count == second.headerFields.count)
    }
}
