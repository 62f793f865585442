import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPServerBodyTests {
    private func server() throws -> HTTPServer {
        try TestServer.start { request in
            let body = request.body?.array ?? []
            let sum = body.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
            return .ready(.text("\(request.method.rawValue) \(body.count) \(sum)"))
        }
    }

    private func answer(to body: [UInt8]) -> String {
        "POST \(body.count) \(body.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })"
    }

    @Test(arguments: [0, 1, 1_000, 70_000, 200_000])
    func `a body arrives complete, and the connection stays open`(count: Int) async throws {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for _ in 0..<2 {
            client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n")
            client.send(body)
            let response = try await client.response()
            #expect(response.status == 200 && response.text == answer(to: body))
        }
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.response().text.hasPrefix("GET 0 "))
    }

    @Test func `a body that arrives with its header or byte by byte is the same`() async throws {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.response().text == answer(to: Array("abc".utf8)))
        #expect(try await client.response().text.hasPrefix("GET 0 "))
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
        for byte in "abc".utf8 { client.send([byte]) }
        #expect(try await client.response().text == answer(to: Array("abc".utf8)))
    }

    @Test func `a client that expects 100 Continue gets it before it sends its body`() async throws {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(try await client.response(isHead: true).status == 100)
        client.send("abc")
        #expect(try await client.response().text == answer(to: Array("abc".utf8)))
    }

    @Test(arguments: [
        ("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 200001\r\n\r\n", 413),
        ("POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc", 400),
        ("POST /other HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 400),
    ])
    func `a disallowed body is rejected after its header, and the connection closes`(
        header: String, status: Int
    )
        async throws
    {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        client.send(header)
        #expect(try await client.response().status == status)
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test func `without a length or chunks there is no body, and the connection stays open`() async throws {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        for target in ["/upload", "/other"] {
            client.send("POST \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().text == answer(to: []))
        }
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.response().text.hasPrefix("GET 0 "))
    }

    @Test(arguments: ["Content-Length: 100000", "Transfer-Encoding: chunked"])
    func `a body slower than a kilobyte a second is rejected long before its timeout`(field: String) async throws {
        let time = WalkingTimekeeper()
        let server = try TestServer.start(configured: { $0.bodyTimeout = .seconds(86_400) }, timedBy: time)
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n3\r\nab")
        time.walk()
        defer { time.stand() }
        let response = try await client.response()
        #expect(response.status == 408 && response.text == "bodyTimeout")
        #expect(await eventually { server.connectionCount == 0 })
    }

    private static let chunked = "POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    private func chunks(_ body: [UInt8], of size: Int) -> [UInt8] {
        stride(from: 0, to: body.count, by: size).flatMap { start in
            let part = body[start..<min(start + size, body.count)]
            return Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
        }
    }

    @Test(arguments: [(0, 1), (1, 1), (1_000, 7), (200_000, 30_000)])
    func `a chunked body arrives complete, and the connection closes after the response`(
        count: Int, size: Int
    )
        async throws
    {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        client.send(Self.chunked)
        client.send(chunks(body, of: size))
        client.send("0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try await client.response()
        #expect(response.text == answer(to: body) && response.headerFields[.connection] == "close")
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test(arguments: [
        ("zz\r\nabc\r\n", 400, "badRequest"), ("3\r\nabcd\r\n", 400, "badRequest"),
        ("fffffffffffffffffffffff\r\n", 413, "bodyTooLarge"), ("-3\r\nabc\r\n", 400, "badRequest"),
    ])
    func `malformed chunks are rejected, and the connection closes`(
        body: String, status: Int, text: String
    )
        async throws
    {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        client.send(Self.chunked + body)
        let response = try await client.response()
        #expect(response.status == status && response.text == text)
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test func `an endless body is rejected at the limit of its route`() async throws {
        let server = try server()
        let client = try RawHTTPClient(port: server.port)
        client.send(Self.chunked)
        client.send(chunks([UInt8](repeating: 1, count: 200_001), of: 50_000))
        #expect(try await client.response().status == 413)
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test(arguments: ["Content-Length: 100", "Transfer-Encoding: chunked"])
    func `a body that stops is rejected at its timeout`(field: String) async throws {
        let time = WalkingTimekeeper()
        let reservation = RecordingReservation()
        let server = try TestServer.start(
            configured: { $0.bodyTimeout = .seconds(3) }, reserving: reservation, timedBy: time)
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n3\r\nab")
        time.walk()
        defer { time.stand() }
        #expect(try await client.response().status == 408)
        #expect(await eventually { server.connectionCount == 0 })
        #expect(reservation.interruptions.withLock { $0 } == [.bodyTimeout])
    }

    @Test func `a client that leaves in the middle of its body ends its connection`() async throws {
        let gate = ThreadGate()
        let reservation = RecordingReservation()
        let server = try TestServer.start(
            configured: { $0.bodyTimeout = .seconds(600) }, meeting: gate, reserving: reservation)
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
        await gate.arrivals(1)
        // The connection closes right after these bytes.
        client.send("abc")
        client.close()
        gate.open()
        #expect(await eventually { server.connectionCount == 0 })
        #expect(reservation.interruptions.withLock { $0 }.isEmpty)
    }

    @Test func `a body that takes too long is rejected with the next byte, and ends its connection`() async throws {
        let reservation = RecordingReservation()
        let server = try TestServer.start(configured: { $0.bodyTimeout = .zero }, reserving: reservation)
        let client = try RawHTTPClient(port: server.port)
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
        client.send("abc")
        let response = try await client.response()
        #expect(response.status == 408 && response.headerFields[.connection] == "close")
        #expect(await eventually { server.connectionCount == 0 })
        #expect(reservation.interruptions.withLock { $0 } == [.bodyTimeout])
    }
}
