import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Bodies that are written while they are sent.
@Suite(.timeLimit(.minutes(1)))
struct StreamedBodyTests {
    private func server(_ write: @escaping @Sendable (StreamedBody) async throws -> Void) throws -> HTTPServer {
        try TestServer.start { _ in
            let body = StreamedBody()
            let writer = Task {
                do {
                    try await write(body)
                    body.finish()
                } catch {
                    body.finish(isComplete: false)
                }
            }
            body.onClose { writer.cancel() }
            return .ready(HTTPResponse(status: .ok, body: .streamed(body)))
        }
    }

    private static func bytes(_ text: String) -> SharedBytes { SharedBytes(Array(text.utf8)) }

    @Test func `pieces arrive as chunks as soon as they are written, and the connection stays open`() async throws {
        let gate = Gate()
        let server = try server { body in
            try await body.write(Self.bytes("first"))
            await gate.pass()
            try await body.write(Self.bytes("second"))
        }
        let client = try RawHTTPClient(port: server.port)
        for _ in 0..<2 {
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try await client.response(isHead: true)
            #expect(head.status == 200 && head.headerFields[.transferEncoding] == "chunked")
            #expect(try await client.bytes(10) == Array("5\r\nfirst\r\n".utf8))
            gate.open()
            #expect(try await client.bytes(16) == Array("6\r\nsecond\r\n0\r\n\r\n".utf8))
        }
    }

    @Test func `a large piece arrives complete`() async throws {
        let whole = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try server { try await $0.write(SharedBytes(whole)) }
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.0\r\n\r\n")
        let response = try await client.response(isHead: true)
        #expect(response.headerFields[.transferEncoding] == nil)
        #expect(try await client.bytes(whole.count) == whole)
    }

    @Test func `a client that leaves ends the writer's wait`() async throws {
        let ends = EventCounter()
        let begun = EventCounter()
        let server = try server { body in
            defer { ends.increment() }
            begun.increment()
            while true { try await body.write(SharedBytes([UInt8](repeating: 1, count: 100_000))) }
        }
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.reached(1)
        client.close()
        await ends.reached(1)
    }

    @Test func `a client that leaves between writes cancels the writer`() async throws {
        let ends = EventCounter()
        let begun = EventCounter()
        let server = try server { body in
            defer { ends.increment() }
            try await body.write(Self.bytes("first"))
            begun.increment()
            // The clock stands still, so only the cancellation ends the wait.
            try await ManualTimekeeper().sleep(until: .seconds(1))
        }
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.reached(1)
        client.close()
        await ends.reached(1)
    }

    @Test func `an aborted body ends the connection without a last chunk`() async throws {
        struct Failure: Error {}
        let server = try server { body in
            try await body.write(Self.bytes("first"))
            throw Failure()
        }
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await client.response(isHead: true)
        #expect(try await client.remainder() == Array("5\r\nfirst\r\n".utf8))
    }

    @Test func `a body closed before it is written rejects all writes`() async {
        let body = StreamedBody()
        let closings = EventCounter()
        body.onClose { closings.increment() }
        body.close()
        body.close()
        await closings.reached(1)
        #expect(closings.count == 1)
        await #expect(throws: StreamedBody.Closed.self) { try await body.write(Self.bytes("x")) }
        body.onClose { closings.increment() }
        #expect(closings.count == 2)
        if case .broken = body.take() {} else { Issue.record("a closed body has pieces") }
    }
}
