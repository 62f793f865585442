import Coordination
import Dialects
import HTTPTypes
import JSON
import Memory
import Telemetry
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// `GET /events`, without the server.
@Suite(.timeLimit(.minutes(1)))
struct EventResponderTests {
    private let time = ManualTimekeeper()
    private let log = EventLog()
    private let feed: EventFeed
    private let responder: EventResponder

    init() {
        feed = EventFeed(of: log, timekeeper: time) { .object([("requests", .int(5))]) }
        responder = EventResponder(feed: feed, control: StubControl(), common: CommonFields.admin.strict)
    }

    private func respond(
        _ target: String = "/events", method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) throws -> HTTPResponse {
        let action = try #require(
            AdminEndpoint.route(at: "/events").flatMap { AdminEndpoint.action(method, at: $0) })
        let parameters = try AdminParameters(target: target, allowed: action.parameters)
        return try responder.response(
            to: HTTPRequest(method: method, target: target, headerFields: fields), parameters: parameters)
    }

    /// The error code of a request.
    private func code(_ target: String, fields: HTTPFields = [:]) -> String? {
        do {
            _ = try respond(target, fields: fields)
            return nil
        } catch {
            return (error as? any ServiceError)?.code
        }
    }

    private func body(of response: HTTPResponse) throws -> StreamedBody {
        guard case .streamed(let body) = response.body else { throw APIError.badRequest }
        return body
    }

    /// The next piece of a stream, read as the server does.
    private func piece(of body: StreamedBody) async -> String? {
        await withCheckedContinuation { continuation in body.whenReady { continuation.resume() } }
        guard case .bytes(let bytes) = body.take() else { return nil }
        return String(decoding: bytes.array, as: UTF8.self)
    }

    private func record(_ url: String) { log.record(.purge(url: url, entries: 1, bytes: 2, cause: .full)) }

    @Test func `the stream has its own media type, is not cached, and waits for its reader`() throws {
        let response = try respond()
        #expect(response.status == .ok && response[.contentType] == "text/event-stream")
        #expect(response[.cacheControl] == "no-store")
        let body = try body(of: response)
        #expect(body.allowsPausing)
        #expect(feed.readerCount == 1)
        body.close()
        #expect(feed.readerCount == 0)
    }

    @Test func `a reader resumes after the event that it names`() async throws {
        for number in 1...3 { record("http://h/\(number)") }
        for (target, fields) in [
            ("/events?types=purge", [.lastEventID: "2"] as HTTPFields), ("/events?types=purge&after=2", [:]),
            ("/events?types=purge&after=0", [.lastEventID: "2"]),
        ] {
            let body = try body(of: respond(target, fields: fields))
            let start =
                "id: 3\nevent: purge\ndata: {\"url\":\"http://h/3\",\"entries\":1,\"bytes\":2,\"cause\":\"full\",\"time\":"
            #expect(await piece(of: body)?.hasPrefix(start) == true)
            body.close()
        }
    }

    @Test func `a source is matched in any spelling, and other sources are omitted`() async throws {
        for number in 1...3 { record("http://h/\(number)") }
        let body = try body(
            of: respond("/events?url=http%3A%2F%2Fh%2F2", fields: [.lastEventID: "0"]))
        #expect(await piece(of: body)?.hasPrefix("id: 2\n") == true)
        body.close()
    }

    @Test func `statistics are sent without a wait`() async throws {
        let body = try body(of: respond("/events?types=stats"))
        #expect(await piece(of: body) == "event: stats\ndata: {\"requests\":5}\n\n")
        body.close()
    }

    @Test(arguments: [
        ("/events?x=1", "unknown_parameter"), ("/events?target=x", "unknown_parameter"),
        ("/events?after=", "bad_parameter"), ("/events?after=-1", "bad_parameter"),
        ("/events?types=", "bad_parameter"), ("/events?types=lost", "bad_parameter"),
        ("/events?types=purge,", "bad_parameter"), ("/events?types=purge,purge", "bad_parameter"),
        ("/events?types=Purge", "bad_parameter"), ("/events?types=purge&types=stats", "bad_parameter"),
        ("/events?url=a&url=b", "bad_parameter"), ("/events?url=", "bad_url"), ("/events?url=refused", "bad_url"),
    ])
    func `an invalid request opens nothing`(target: String, expected: String) {
        #expect(code(target) == expected)
        #expect(feed.readerCount == 0)
    }

    @Test(arguments: ["x", "-1", "+1", " 1", "1.0", "99999999999999999999999", "1, 2", "٣"])
    func `an impossible event ID is rejected`(id: String) {
        #expect(code("/events", fields: [.lastEventID: id]) == "bad_parameter")
        #expect(feed.readerCount == 0)
    }

    @Test func `HEAD opens nothing`() throws {
        let response = try respond(method: .head)
        #expect(response.status == .ok && response[.contentType] == "text/event-stream")
        guard case .empty = response.body else {
            Issue.record("HEAD has a body")
            return
        }
        #expect(feed.readerCount == 0)
    }

    @Test func `the sixty-fifth reader is rejected until one leaves`() throws {
        let bodies = try (0..<64).map { _ in try body(of: respond()) }
        #expect(throws: APIError.tooManyReaders) { try respond() }
        let problem = Problem(APIError.tooManyReaders, requestID: "r", common: [:]).response
        #expect(problem.status == .serviceUnavailable && problem.code == "overloaded" && problem[.retryAfter] != nil)
        bodies[9].close()
        let late = try body(of: respond())
        for body in bodies + [late] { body.close() }
        #expect(feed.readerCount == 0)
    }

    @Test func `the shutdown ends the stream in order`() async throws {
        let body = try body(of: respond("/events?types=purge"))
        feed.shutDown()
        await withCheckedContinuation { continuation in body.whenReady { continuation.resume() } }
        guard case .end = body.take() else {
            Issue.record("the stream goes on, or was broken off")
            return
        }
    }

    @Test func `the statistics have the members that the page shows`() throws {
        let registry = MetricsRegistry()
        let metrics = APIMetrics(registry: registry)
        for status in ["200", "304", "404", "499", "502", "503"] {
            metrics.requests.counter("thumbnail", status).increment()
        }
        time.advance(by: .seconds(7))
        let stats = ServiceStats(
            control: StubControl(), metrics: metrics, lifecycle: ServiceLifecycle(startedAt: .zero), timekeeper: time)
        let lane = #"{"threads":2,"running":1,"waiting":3,"delaySeconds":0.25}"#
        let (decoded, result) = (
            #"{"bytes":1,"capacity":2,"preferred":3,"entries":4,"hits":0,"misses":0,"evictedBytes":0}"#,
            #"{"bytes":5,"capacity":6,"preferred":7,"entries":8,"hits":0,"misses":0,"evictedBytes":0}"#
        )
        #expect(
            stats.json.text
                == #"{"uptimeSeconds":7,"draining":false,"active":true,"requests":6,"clientErrors":2,"errors":2,"#
                + #""hits":0,"misses":0,"decodes":7,"renders":8,"downloads":{"active":1,"queued":2,"maximum":32},"#
                + #""workers":{"small":\#(lane),"expensive":\#(lane)},"#
                + #""memory":{"limit":100,"held":40,"reserved":0,"waiting":0},"#
                + #""caches":{"decoded":\#(decoded),"result":\#(result)},"#
                + #""originCounts":{"unknown":1,"reachable":0,"not_reachable":0,"suspended":1,"held":0},"origins":["#
                + #"{"origin":"https://h:443","state":"suspended","retryAfterSeconds":2.5,"cause":"no_response"},"#
                + #"{"origin":"https://i:443","state":"unknown","retryAfterSeconds":null}],"diskCache":{"state":"full"},"sharedCache":{"state":"suspended"}}"#
        )
    }
}
