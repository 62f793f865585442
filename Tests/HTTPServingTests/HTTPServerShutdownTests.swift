import Glibc
import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import HTTPServing

@Suite(.timeLimit(.minutes(1)))
struct HTTPServerShutdownTests {
    @Test func `an address in use and an invalid address each have their error`() throws {
        let server = try TestServer.start()
        #expect(throws: HTTPServerError.cannotListen(address: "127.0.0.1", port: server.port, systemError: EADDRINUSE))
        {
            try TestServer.start(configured: { $0.port = server.port })
        }
        #expect(
            "\(HTTPServerError.cannotListen(address: "127.0.0.1", port: 80, systemError: EADDRINUSE))"
                == "port 80 of 127.0.0.1 is in use by another program")
        for error in [EADDRNOTAVAIL, EACCES, ENOBUFS] {
            let text = "\(HTTPServerError.cannotListen(address: "10.1.2.3", port: 80, systemError: error))"
            #expect(text.contains("10.1.2.3") && !text.contains("cannotListen"))
        }
        #expect(throws: HTTPServerError.invalidAddress("localhost")) {
            try TestServer.start(configured: { $0.bindAddress = "localhost" })
        }
    }

    @Test(arguments: ["127.0.0.1", "0.0.0.0", "::"])
    func `a server listens on one IPv4 address, on all of them, or on both families`(address: String) async throws {
        let server = try TestServer.start(configured: { $0.bindAddress = address })
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        #expect(try await client.response().status == 200)
    }

    @Test func `an inherited socket outlives the server`() async throws {
        var configuration = HTTPServerConfiguration()
        (configuration.bindAddress, configuration.port) = ("127.0.0.1", 0)
        let socket = try ListeningSocket(configuration)
        defer { close(socket.descriptor) }
        let first = try TestServer.start { $0.inheritedSocket = dup(socket.descriptor) }
        #expect(first.port == socket.port)
        let early = try RawHTTPClient(port: socket.port)
        early.get("/")
        #expect(try await early.response().status == 200)
        _ = await first.shutDown(timeLimit: .seconds(10))
        // The kernel keeps the connection for the next process.
        let late = try RawHTTPClient(port: socket.port)
        late.get("/")
        let second = try TestServer.start { $0.inheritedSocket = dup(socket.descriptor) }
        #expect(try await late.response().status == 200)
        _ = await second.shutDown(timeLimit: .zero)
    }

    @Test func `a client that was answered a moment ago can send another request when the server drains`() async throws
    {
        let time = ManualTimekeeper()
        let server = try TestServer.start(timedBy: time)
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        #expect(try await client.response().status == 200)
        server.stopAccepting()
        client.get("/")
        let last = try await client.response()
        #expect(last.status == 200 && last.headerFields[.connection] == "close")
    }

    @Test func `draining rejects new connections and closes idle ones; requests in progress finish`() async throws {
        let gate = Gate()
        let server = try TestServer.start { request in
            guard request.target == "/slow" else { return .ready(.echo(request)) }
            return .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let idle = try RawHTTPClient(port: server.port)
        idle.get("/")
        #expect(try await idle.response().headerFields[.connection] == nil)
        let busy = try RawHTTPClient(port: server.port)
        busy.get("/slow")
        await gate.arrivals(1)
        server.stopAccepting()
        #expect(throws: RawHTTPClient.Failure.cannotConnect(ECONNREFUSED)) { try RawHTTPClient(port: server.port) }
        #expect(try await idle.remainder().isEmpty)
        #expect(await eventually { server.connectionCount == 1 })
        gate.open()
        let response = try await busy.response()
        #expect(response.status == 200)
        #expect(response.headerFields[.connection] == "close")
        #expect(try await busy.remainder().isEmpty)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
        #expect(server.connectionCount == 0)
    }

    @Test func `a request in transit when accepting stops is served; a silent client does not delay the end`()
        async throws
    {
        let server = try TestServer.start()
        let clients = try (0..<50).map { _ in try RawHTTPClient(port: server.port) }
        let silent = try RawHTTPClient(port: server.port)
        server.stopAccepting()
        // Perhaps no connection has been accepted yet, and no client has sent a byte.
        for client in clients { client.get("/") }
        for client in clients {
            let response = try await client.response()
            #expect(response.status == 200)
            #expect(response.headerFields[.connection] == "close")
        }
        #expect(await server.shutDown(timeLimit: .seconds(30)))
        #expect(try await silent.remainder().isEmpty)
    }

    @Test func `a shutdown waits for the requests in progress`() async throws {
        let gate = Gate()
        let server = try TestServer.start { request in
            .deferred {
                await gate.pass()
                return .echo(request)
            }
        }
        let clients = try (0..<50).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients { client.get("/") }
        await gate.arrivals(50)
        async let isComplete = server.shutDown(timeLimit: .seconds(30))
        #expect(await eventually { (try? RawHTTPClient(port: server.port)) == nil })
        gate.open()
        for client in clients { #expect(try await client.response().headerFields[.connection] == "close") }
        let outcome = await isComplete
        #expect(outcome)
    }

    @Test func `a shutdown cancels requests that have not finished in time, and reports it`() async throws {
        let never = Gate()
        let cancelled = EventCounter()
        let announced = EventCounter()
        let unannounced = EventCounter()
        let server = try TestServer.start { _ in
            .deferred {
                await withTaskCancellationHandler {
                    await never.pass()
                } onCancel: {
                    cancelled.increment()
                    if announced.count == 0 { unannounced.increment() }
                }
                return .text("")
            }
        }
        let clients = try (0..<20).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients { client.get("/") }
        await never.arrivals(20)
        #expect(await server.shutDown(timeLimit: .milliseconds(50), willAbort: announced.increment) == false)
        #expect(cancelled.count == 20)
        #expect(announced.count > 0 && unannounced.count == 0)
        #expect(server.connectionCount == 0)
        for client in clients { #expect(try await client.remainder().isEmpty) }
        never.open()
    }

    @Test func `a response that its client does not read does not delay a shutdown`() async throws {
        let body = SharedBytes([UInt8](repeating: 1, count: 32 << 20))
        let asked = EventCounter()
        let server = try TestServer.start { _ in
            asked.increment()
            return .ready(HTTPResponse(status: .ok, body: .shared(body)))
        }
        let client = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        client.get("/")
        await asked.reached(1)
        #expect(await server.shutDown(timeLimit: .milliseconds(50)) == false)
        #expect(server.connectionCount == 0)
        // Releasing the client earlier would close the connection.
        withExtendedLifetime(client) {}
    }

    @Test func `a server can be shut down twice, and without any request`() async throws {
        let server = try TestServer.start()
        async let first = server.shutDown(timeLimit: .seconds(5))
        async let second = server.shutDown(timeLimit: .seconds(5))
        let outcomes = await (first, second)
        #expect(outcomes == (true, true))
        #expect(await server.shutDown(timeLimit: .zero))
        server.stopAccepting()
    }

    @Test func `stopping under load neither crashes nor loses a response`() async throws {
        for _ in 0..<20 {
            let server = try TestServer.start()
            let answered = EventCounter()
            async let load: Void = withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        guard let client = try? RawHTTPClient(port: server.port) else { return }
                        while true {
                            client.get("/")
                            guard let response = try? await client.response() else { return }
                            #expect(response.status == 200)
                            answered.increment()
                        }
                    }
                }
            }
            await answered.reached(21)
            #expect(await server.shutDown(timeLimit: .seconds(5)))
            await load
        }
    }

    @Test func `a thousand servers start and stop without leaking threads or descriptors`() async {
        // Runs in a separate process, because other tests open descriptors as well.
        await #expect(processExitsWith: .success) {
            func status(of server: HTTPServer) async throws -> Int {
                // The client disconnects before the shutdown, which otherwise waits for another request.
                let client = try RawHTTPClient(port: server.port)
                client.get("/")
                return try await client.response().status
            }
            func cycle() async throws {
                let server = try TestServer.start { request in .deferred { .echo(request) } }
                let status = try await status(of: server)
                #expect(status == 200)
                #expect(await server.shutDown(timeLimit: .seconds(30)))
            }
            for _ in 0..<50 { try await cycle() }
            let before = ProcessUse.current
            for _ in 0..<1_000 { try await cycle() }
            let isFlat = await eventually { ProcessUse.current.isAtMost(before) }
            #expect(isFlat, "\(before) became \(ProcessUse.current)")
        }
    }
}

/// Resources of this process as counted by the kernel.
private struct ProcessUse {
    let descriptors: Int
    let threads: Int

    static var current: ProcessUse {
        ProcessUse(descriptors: entries(of: "/proc/self/fd"), threads: entries(of: "/proc/self/task"))
    }

    /// Whether nothing has grown as if each of a thousand servers had leaked something.
    ///
    /// The runtime starts threads and opens descriptors when it first needs them. Memory is not compared,
    /// because allocators keep freed memory.
    func isAtMost(_ other: ProcessUse) -> Bool {
        descriptors <= other.descriptors + 100 && threads <= other.threads + 100
    }

    private static func entries(of path: String) -> Int {
        guard let directory = unsafe opendir(path) else { return -1 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count
    }
}
