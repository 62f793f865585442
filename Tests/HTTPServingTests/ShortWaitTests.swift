import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Responses that wait shortly, without tasks.
@Suite(.timeLimit(.minutes(1)))
struct ShortWaitTests {
    /// Events that connections wait for, and the ends of these waits.
    private final class Waits: Sendable {
        private let open = Locked<[@Sendable () -> Void]>([])
        let begun = EventCounter()
        let answered = EventCounter()
        let abandoned = EventCounter()

        /// A wait that ends with ``endAll()``.
        func wait(then answer: @escaping @Sendable () -> PendingResponse<HTTPResponse>) -> PendingResponse<HTTPResponse>
        {
            .waiting(
                ShortWait { [self] ready in
                    open.withLock { $0.append(ready) }
                    begun.increment()
                } finish: { [self] in
                    answered.increment()
                    return answer()
                } abandon: { [self] in
                    abandoned.increment()
                    return HTTPResponse(status: .ok)
                })
        }

        func endAll() {
            let all = open.withLock { open in
                defer { open = [] }
                return open
            }
            for end in all { end() }
        }
    }

    @Test func `each response reaches its client when its wait ends, request after request`() async throws {
        let waits = Waits()
        let server = try TestServer.start { request in waits.wait { .ready(.echo(request)) } }
        let clients = try (0..<100).map { _ in try RawHTTPClient(port: server.port) }
        for round in 1...3 {
            for (number, client) in clients.enumerated() { client.get("/\(number)-\(round)") }
            await waits.begun.reached(100 * round)
            waits.endAll()
            for (number, client) in clients.enumerated() {
                #expect(try await client.response().text.hasPrefix("GET /\(number)-\(round)\n"))
            }
        }
        #expect(waits.answered.count == 300 && waits.abandoned.count == 0)
    }

    @Test func `a wait may end at once, and precede another wait, a response or a task`() async throws {
        let waits = Waits()
        let gate = Gate()
        gate.open()
        let server = try TestServer.start { request in
            .waiting(
                ShortWait { ready in
                    ready()
                } finish: {
                    waits.wait {
                        if request.target == "/now" { return .ready(.text("now")) }
                        return .deferred {
                            await gate.pass()
                            return .text("later")
                        }
                    }
                } abandon: {
                    HTTPResponse(status: .ok)
                })
        }
        let client = try RawHTTPClient(port: server.port)
        for (index, name) in ["now", "later", "now"].enumerated() {
            client.get("/\(name)")
            await waits.begun.reached(index + 1)
            waits.endAll()
            #expect(try await client.response().text == name)
        }
    }

    @Test func `the wait of a client that has left ends once, and its response is released`() async throws {
        let waits = Waits()
        let released = EventCounter()
        let server = try TestServer.start { _ in
            waits.wait {
                .ready(HTTPResponse(status: .ok, body: .shared(.nines(count: 1 << 16, released: released))))
            }
        }
        for _ in 0..<100 {
            let client = try RawHTTPClient(port: server.port)
            client.get("/")
            client.close()
        }
        await waits.begun.reached(100)
        waits.endAll()
        #expect(await eventually { server.connectionCount == 0 })
        #expect(waits.answered.count + waits.abandoned.count == 100)
        await released.reached(waits.answered.count)
    }

    @Test func `a wait cut by the server's shutdown is abandoned once, and its late reply is dropped`() async throws {
        let waits = Waits()
        let server = try TestServer.start { _ in waits.wait { .ready(.text("late")) } }
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        await waits.begun.reached(1)
        #expect(!(await server.shutDown(timeLimit: .milliseconds(50))))
        #expect(waits.abandoned.count == 1)
        waits.endAll()
        #expect(waits.abandoned.count == 1 && waits.answered.count == 0)
    }
}
