import HTTPServing
import HTTPTypes
import TestSupport
import Testing

/// Responses that tasks compute while their connections are suspended.
@Suite(.timeLimit(.minutes(1)))
struct HTTPServerPromiseTests {
    @Test func `two hundred deferred responses each reach their client`() async throws {
        let gate = Gate()
        let server = try TestServer.start { request in
            .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let clients = try (0..<200).map { _ in try RawHTTPClient(port: server.port) }
        for (number, client) in clients.enumerated() { client.get("/\(number)") }
        await gate.arrivals(200)
        gate.open()
        for (number, client) in clients.enumerated() {
            #expect(try await client.response().text.hasPrefix("GET /\(number)\n"))
        }
    }

    @Test func `thousands of deferred responses reach their few connections`() async throws {
        let server = try TestServer.start { request in .deferred { .echo(request) } }
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let client = try RawHTTPClient(port: server.port)
                    for number in 0..<500 {
                        client.get("/\(number)")
                        #expect(try await client.response().text.hasPrefix("GET /\(number)\n"))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [false, true])
    func `a client that leaves or half-closes cancels the work at once`(isHalf: Bool) async throws {
        let started = Gate()
        let cancelled = EventCounter()
        let server = try TestServer.start { _ in
            .deferred {
                await withTaskCancellationHandler {
                    await started.pass()
                } onCancel: {
                    cancelled.increment()
                }
                return .text("too late")
            }
        }
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        await started.arrivals(1)
        #expect(cancelled.count == 0)
        if isHalf { client.finishSending() } else { client.close() }
        await cancelled.reached(1)
        // The connection does not wait for the work to end.
        #expect(await eventually { server.connectionCount == 0 })
        if isHalf { #expect(try await client.remainder().isEmpty) }
        started.open()
        let other = try RawHTTPClient(port: server.port)
        other.get("/")
        #expect(try await other.response().text == "too late")
    }

    @Test func `a client that leaves cancels no other client's work`() async throws {
        let gate = Gate()
        let cancelled = EventCounter()
        let server = try TestServer.start { request in
            .deferred {
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    cancelled.increment()
                }
                return .echo(request)
            }
        }
        let clients = try (0..<20).map { _ in try RawHTTPClient(port: server.port) }
        for (number, client) in clients.enumerated() { client.get("/\(number)") }
        await gate.arrivals(20)
        for client in clients.prefix(10) { client.close() }
        await cancelled.reached(10)
        #expect(await eventually { server.connectionCount == 10 })
        #expect(cancelled.count == 10)
        gate.open()
        for (number, client) in clients.enumerated().dropFirst(10) {
            #expect(try await client.response().text.hasPrefix("GET /\(number)\n"))
        }
        #expect(cancelled.count == 10)
    }

    @Test func `a client that left before its connection was watched is noticed too`() async throws {
        let cancelled = EventCounter()
        let finished = EventCounter()
        let gate = Gate()
        let server = try TestServer.start { _ in
            .deferred {
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    cancelled.increment()
                }
                finished.increment()
                return .text("")
            }
        }
        for _ in 0..<50 {
            let client = try RawHTTPClient(port: server.port)
            client.get("/")
            client.close()
        }
        await gate.arrivals(50)
        await cancelled.reached(50)
        #expect(await eventually { server.connectionCount == 0 })
        gate.open()
        await finished.reached(50)
        #expect(finished.count == 50 && cancelled.count == 50)
    }

    @Test func `a client may leave while its response is finished, and no response leaks`() async throws {
        let asked = EventCounter()
        let released = EventCounter()
        let server = try TestServer.start { _ in
            asked.increment()
            return .deferred { HTTPResponse(status: .ok, body: .shared(.nines(count: 1 << 16, released: released))) }
        }
        for _ in 0..<1_000 {
            let client = try RawHTTPClient(port: server.port)
            client.get("/")
            client.close()
        }
        #expect(await eventually { server.connectionCount == 0 })
        _ = await server.shutDown(timeLimit: .seconds(1))
        #expect(asked.count > 0)
        // Tasks whose clients have left may still compute a response that is never sent.
        await released.reached(asked.count)
        #expect(asked.count == released.count)
    }
}
