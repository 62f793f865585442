import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Clients that are too slow, too many or silent.
@Suite(.timeLimit(.minutes(1)))
struct HTTPServerTimeoutTests {
    private let time = WalkingTimekeeper()

    @Test(arguments: ["", "G", "GET / HT", "GET / HTTP/1.1\r\nHo", "GET / HTTP/1.1\r\nHost: a\r\n"])
    func `a head that trickles is answered with 408 and the connection closes`(begun: String) async throws {
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time)
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        #expect(try await client.response().status == 200)
        client.send(begun)
        // One byte now and then keeps the library's own timer from ever ending.
        time.walk { client.send("x") }
        let response = try await client.response()
        #expect(response.status == 408)
        #expect(response.text == "headTimeout")
        #expect(response.headerFields[.connection] == "close")
        #expect(response.headerFields[.date].flatMap { HTTPDate($0) } != nil)
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test func `a head that stops is answered with 408, on a new connection too`() async throws {
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time)
        try await passHeaderTimeout(of: server)
    }

    @Test func `idleness is no slow head, before the first request nor after it`() async throws {
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time)
        let fresh = try RawHTTPClient(port: server.port)
        let used = try RawHTTPClient(port: server.port)
        used.get("/")
        #expect(try await used.response().status == 200)
        try await passHeaderTimeout(of: server)
        for client in [fresh, used] {
            client.get("/")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `a slow answer is no slow head`() async throws {
        let gate = Gate()
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time) { request in
            .later {
                await gate.pass()
                return .echo(request)
            }
        }
        let client = try RawHTTPClient(port: server.port)
        // The beginning of a second head waits behind the first request; its own time starts when that is answered.
        client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HT")
        await gate.arrivals(1)
        try await passHeaderTimeout(of: server)
        gate.open()
        #expect(try await client.response().text.hasPrefix("GET /1"))
    }

    /// Waits until a head that has stopped is refused: so long was every other connection looked at, too.
    private func passHeaderTimeout(of server: HTTPServer) async throws {
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: ")
        time.walk()
        defer { time.stand() }
        #expect(try await client.response().status == 408)
        #expect(try await client.remainder().isEmpty)
    }

    @Test func `an idle connection closes silently`() async throws {
        let server = try TestServer.start(configured: { $0.keepAliveTimeout = .seconds(1) })
        let fresh = try RawHTTPClient(port: server.port)
        let used = try RawHTTPClient(port: server.port)
        used.get("/")
        #expect(try await used.response().status == 200)
        #expect(try await fresh.remainder().isEmpty)
        #expect(try await used.remainder().isEmpty)
    }

    @Test func `a client that stops reading is closed, one that reads slowly is not`() async throws {
        let body = SharedBytes([UInt8](repeating: 1, count: 16 << 20))
        let server = try TestServer.start(configured: { $0.stalledReaderTimeout = .seconds(1) }) { _ in
            .now(HTTPResponse(status: .ok, body: .shared(body)))
        }
        let slow = try RawHTTPClient(port: server.port)
        let stalled = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        stalled.get("/")
        slow.get("/")
        #expect(try await slow.response().body.count == 16 << 20)
        #expect(await eventually(within: .seconds(8)) { server.connectionCount == 1 })
        await #expect(throws: RawHTTPClient.Failure.self) { try await stalled.response() }
        slow.get("/")
        #expect(try await slow.response().status == 200)
    }

    @Test func `connections above the limit are closed at once, and their place is free again later`() async throws {
        let server = try TestServer.start(configured: { $0.maximumConnections = 8 })
        var clients = try (0..<8).map { _ in try RawHTTPClient(port: server.port) }
        #expect(await eventually { server.connectionCount == 8 })
        for _ in 0..<20 {
            let refused = try RawHTTPClient(port: server.port)
            #expect(try await refused.remainder().isEmpty)
        }
        for client in clients {
            client.get("/")
            #expect(try await client.response().status == 200)
        }
        clients.removeLast().close()
        #expect(await eventually { server.connectionCount == 7 })
        let next = try RawHTTPClient(port: server.port)
        next.get("/")
        #expect(try await next.response().status == 200)
    }

    @Test func `one address cannot take more than its share`() async throws {
        let server = try TestServer.start(configured: { $0.maximumConnectionsPerAddress = 2 })
        let clients = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
        #expect(await eventually { server.connectionCount == 2 })
        #expect(try await RawHTTPClient(port: server.port).remainder().isEmpty)
        for client in clients {
            client.get("/")
            #expect(try await client.response().status == 200)
        }
    }
}

/// A clock that stands, or goes on whenever it is looked at: the server's thread takes as many looks as it needs, and nobody has to wait.
///
/// It stands while requests are sent in time, for whatever the machine does to them meanwhile.
private final class WalkingTimekeeper: Timekeeper {
    private struct State {
        var now = Duration.zero
        var step = Duration.zero
        var body: @Sendable () -> Void = {}
    }

    private let state = Locked(State())

    var now: Duration {
        let (now, body) = state.withLock { state in
            state.now += state.step
            return (state.now, state.body)
        }
        body()
        return now
    }

    var secondsSince1970: Int { 1_800_000_000 }

    func sleep(until deadline: Duration) async throws {
        while now < deadline { await Task.yield() }
    }

    /// Goes on from now on, and runs `body` at each look.
    func walk(_ body: @escaping @Sendable () -> Void = {}) {
        state.withLock { ($0.step, $0.body) = (.milliseconds(50), body) }
    }

    /// Stands from now on.
    func stand() { state.withLock { ($0.step, $0.body) = (.zero, {}) } }
}
