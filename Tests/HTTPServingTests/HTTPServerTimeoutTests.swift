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

    @Test(arguments: ["", "G", "GET /", "GET / HTTP/1.1\r\nHo", "GET / HTTP/1.1\r\nHost: a\r\n"])
    func `a header that trickles is answered with 408 and the connection closes`(begun: String) async throws {
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time)
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        #expect(try await client.response().status == 200)
        client.send(begun)
        // Occasional bytes keep the library's own timer from expiring.
        time.walk { client.send("x") }
        let response = try await client.response()
        #expect(response.status == 408)
        #expect(response.text == "headerTimeout")
        #expect(response.headerFields[.connection] == "close")
        #expect(response.headerFields[.date].flatMap { HTTPDate($0) } != nil)
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test func `a header that stops is answered with 408, on a new connection too`() async throws {
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time)
        try await passHeaderTimeout(of: server)
    }

    @Test func `an idle connection is not a slow header`() async throws {
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

    @Test func `a slow response is not a slow header`() async throws {
        let gate = Gate()
        let server = try TestServer.start(configured: { $0.headerTimeout = .seconds(1) }, timedBy: time) { request in
            .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let client = try RawHTTPClient(port: server.port)
        // The start of a second header waits behind the first request; its timeout starts after the first response.
        client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HT")
        await gate.arrivals(1)
        try await passHeaderTimeout(of: server)
        gate.open()
        #expect(try await client.response().text.hasPrefix("GET /1"))
    }

    /// Waits until an incomplete header times out; by then the server has also checked every other connection.
    private func passHeaderTimeout(of server: HTTPServer) async throws {
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: ")
        time.walk()
        defer { time.stand() }
        #expect(try await client.response().status == 408)
        #expect(try await client.remainder().isEmpty)
    }

    @Test func `an idle connection closes silently`() async throws {
        let server = try TestServer.start(configured: { $0.keepAliveTimeout = .seconds(3) })
        let fresh = try RawHTTPClient(port: server.port)
        let used = try RawHTTPClient(port: server.port)
        used.get("/")
        #expect(try await used.response().status == 200)
        #expect(try await fresh.remainder().isEmpty)
        #expect(try await used.remainder().isEmpty)
    }

    @Test func `a client that stops reading is closed, one that reads slowly is not`() async throws {
        let body = SharedBytes([UInt8](repeating: 1, count: 16 << 20))
        let server = try TestServer.start(configured: { $0.stalledReaderTimeout = .seconds(3) }) { _ in
            .ready(HTTPResponse(status: .ok, body: .shared(body)))
        }
        let slow = try RawHTTPClient(port: server.port)
        let stalled = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        stalled.get("/")
        slow.get("/")
        #expect(try await slow.response().body.count == 16 << 20)
        #expect(await eventually { server.connectionCount == 1 })
        await #expect(throws: RawHTTPClient.Failure.self) { try await stalled.response() }
        slow.get("/")
        #expect(try await slow.response().status == 200)
    }

    @Test func `while all connections have requests, new ones are closed at once`() async throws {
        let gate = Gate()
        let server = try TestServer.start(configured: { $0.maximumConnections = 8 }) { request in
            .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let clients = try (0..<8).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients { client.get("/") }
        await gate.arrivals(8)
        for _ in 0..<20 {
            let rejected = try RawHTTPClient(port: server.port)
            #expect(try await rejected.remainder().isEmpty)
        }
        gate.open()
        for client in clients { #expect(try await client.response().status == 200) }
        clients[7].close()
        #expect(await eventually { server.connectionCount == 7 })
        withExtendedLifetime(clients) {}
        let next = try RawHTTPClient(port: server.port)
        next.get("/")
        #expect(try await next.response().status == 200)
    }

    @Test func `silent connections do not exclude other clients, because the idlest is closed`() async throws {
        let time = ManualTimekeeper()
        let server = try TestServer.start(configured: { $0.maximumConnections = 8 }, timedBy: time)
        var silent: [RawHTTPClient] = []
        for number in 0..<6 {
            time.advance(by: .seconds(1))
            silent.append(try RawHTTPClient(port: server.port, ownAddress: 2))
            #expect(await eventually { server.connectionCount == number + 1 })
        }
        // The first one was used more recently, so the second one is idle longest.
        time.advance(by: .seconds(1))
        silent[0].get("/")
        #expect(try await silent[0].response().status == 200)
        var others = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
        #expect(await eventually { server.connectionCount == 8 })
        time.advance(by: .seconds(1))

        for gone in 1...3 {
            let guest = try RawHTTPClient(port: server.port, ownAddress: UInt8(2 + gone))
            guest.get("/")
            #expect(try await guest.response().status == 200)
            #expect(try await silent[gone].remainder().isEmpty)
            #expect(await eventually { server.connectionCount == 8 })
            guest.get("/")
            #expect(try await guest.response().status == 200)
            others.append(guest)
        }
        for client in [silent[0], silent[4], silent[5]] + others {
            client.get("/")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `a connection with a request in progress is never closed for another`() async throws {
        let gate = Gate()
        let server = try TestServer.start(configured: { $0.maximumConnections = 4 }) { request in
            guard request.target == "/slow" else { return .ready(.echo(request)) }
            return .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let busy = try (0..<3).map { _ in try RawHTTPClient(port: server.port, ownAddress: 2) }
        for client in busy { client.get("/slow") }
        await gate.arrivals(3)
        let silent = try RawHTTPClient(port: server.port, ownAddress: 3)
        #expect(await eventually { server.connectionCount == 4 })
        let guest = try RawHTTPClient(port: server.port, ownAddress: 4)
        guest.get("/")
        #expect(try await guest.response().status == 200)
        #expect(try await silent.remainder().isEmpty)
        gate.open()
        for client in busy { #expect(try await client.response().status == 200) }
    }

    @Test func `a header that has just begun counts as a request in progress, but not for long`() async throws {
        let time = ManualTimekeeper()
        let server = try TestServer.start(
            configured: {
                $0.maximumConnections = 2
                // A long timeout, so that the header is not rejected for being slow.
                $0.headerTimeout = .seconds(1_000)
            }, timedBy: time)
        let begun = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
        for client in begun { client.send("GET / HT") }
        #expect(await eventually { server.connectionCount == 2 })
        let rejected = try RawHTTPClient(port: server.port)
        #expect(try await rejected.remainder().isEmpty)
        let isServed = await eventually {
            time.advance(by: .seconds(1))
            guard let guest = try? RawHTTPClient(port: server.port) else { return false }
            guest.get("/")
            return (try? await guest.response().status) == 200
        }
        #expect(isServed)
        withExtendedLifetime(begun) {}
    }

    @Test func `one address has no more connections than its limit`() async throws {
        let server = try TestServer.start(configured: { $0.maximumConnectionsPerAddress = 2 })
        let clients = try (0..<2).map { _ in try RawHTTPClient(port: server.port) }
        #expect(await eventually { server.connectionCount == 2 })
        #expect(try await RawHTTPClient(port: server.port).remainder().isEmpty)
        for client in clients {
            client.get("/")
            #expect(try await client.response().status == 200)
        }
        withExtendedLifetime(clients) {}
    }
}

/// A clock that stands still or advances with each reading.
///
/// The server's thread reads it as often as needed, so tests do not wait. It stands still while requests are sent in
/// time, so that a slow machine cannot make them late.
final class WalkingTimekeeper: Timekeeper {
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

    /// Makes the clock advance with each reading, which also runs `body`.
    func walk(_ body: @escaping @Sendable () -> Void = {}) {
        state.withLock { ($0.step, $0.body) = (.milliseconds(50), body) }
    }

    /// Stops the clock.
    func stand() { state.withLock { ($0.step, $0.body) = (.zero, {}) } }
}
