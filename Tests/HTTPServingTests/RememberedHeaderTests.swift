import Coordination
import HTTPServing
import HTTPTypes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RememberedHeaderTests {
    private let samples = EventCounter()
    private let answer = ScriptedAnswer("recognised")

    /// A server with recurring responses to `/a?x=1`; counts the requests that it parsed.
    private func serve() throws -> HTTPServer {
        try TestServer.start { [samples, answer] request in
            samples.increment()
            guard request.target == "/a?x=1" else { return .ready(.text(request.target)) }
            return .recurring(RecurringResponse(.text("looked at")), by: answer)
        }
    }

    private func text(_ client: RawHTTPClient, _ header: String) async throws -> String {
        client.send(header + "\r\n")
        return String(decoding: try await client.response(isHead: header.hasPrefix("HEAD")).body, as: UTF8.self)
    }

    private static let header = "GET /a?x=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n"

    @Test func `the same header is parsed twice, then recognized on its connection`() async throws {
        let server = try serve()
        let client = try RawHTTPClient(port: server.port)
        for expected in ["looked at", "looked at", "recognised", "recognised", "recognised"] {
            #expect(try await text(client, Self.header) == expected)
        }
        #expect(samples.count == 2)
        let other = try RawHTTPClient(port: server.port)
        #expect(try await text(other, Self.header) == "looked at")
        #expect(await server.shutDown(timeLimit: .seconds(5)))
    }

    /// The library overwrites the target's first character and the one after its question mark.
    @Test(arguments: [
        ("GET /a?y=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n", "/a?y=1"),
        ("GET /b?x=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n", "/b?x=1"),
        ("GET /a?x=2 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n", "/a?x=2"),
        ("GET /a?x=1 HTTP/1.1\r\nHost: test\r\nX-A: c\r\n", "looked at"),
        ("GET /a?x=1 HTTP/1.1\r\nHost: test\r\nX-B: b\r\n", "looked at"),
        ("GET /a?x=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\nX-C: d\r\n", "looked at"),
        ("GET /a?x=1 HTTP/1.1\r\nHost: test\r\n", "looked at"),
        ("GET /a?x=1 HTTP/1.0\r\nHost: test\r\nX-A: b\r\n", "looked at"),
        ("PUT /a?x=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n", "looked at"),
        ("HEAD /a?x=1 HTTP/1.1\r\nHost: test\r\nX-A: b\r\n", ""),
    ])
    func `a header that differs in any byte is parsed`(_ other: (header: String, answer: String)) async throws {
        let server = try serve()
        let client = try RawHTTPClient(port: server.port)
        for _ in 0..<3 { _ = try await text(client, Self.header) }
        #expect(samples.count == 2)
        #expect(try await text(client, other.header) == other.answer)
        #expect(samples.count == 3)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
    }

    @Test func `a malformed header is rejected although the previous one was remembered`() async throws {
        let server = try serve()
        let client = try RawHTTPClient(port: server.port)
        for _ in 0..<3 { _ = try await text(client, Self.header) }
        client.send("GET /a?x=1 HTTP/1.1\nHost: test\r\nX-A: b\r\n\r\n")
        #expect(try await client.response().status == 400)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
    }

    @Test func `a remembered header without a response is parsed again`() async throws {
        let server = try serve()
        let client = try RawHTTPClient(port: server.port)
        for _ in 0..<3 { _ = try await text(client, Self.header) }
        answer.text = nil
        #expect(try await text(client, Self.header) == "looked at")
        answer.text = "recognized again"
        #expect(try await text(client, Self.header) == "recognized again")
        #expect(samples.count == 3)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
    }

    @Test func `a header of more than 2 KiB is not remembered`() async throws {
        let server = try serve()
        let client = try RawHTTPClient(port: server.port)
        let header = Self.header + "X-Long: \(String(repeating: "l", count: 2_048))\r\n"
        for _ in 0..<4 { #expect(try await text(client, header) == "looked at") }
        #expect(samples.count == 4)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
    }
}

/// A recurring response with the test's content.
final class ScriptedAnswer: RecurringResponder {
    private let state: Locked<String?>

    var text: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    init(_ text: String?) { state = Locked(text) }

    func response() -> RecurringResponse? { text.map { RecurringResponse(.text($0)) } }
}
