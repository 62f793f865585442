import HTTPServing
import HTTPTypes
import TestSupport
import Testing

/// Requests that a server must reject.
@Suite(.timeLimit(.minutes(1)))
struct HTTPServerRejectionTests {
    /// A header that must be rejected.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]

        init(_ description: String, _ text: String) {
            testDescription = description
            bytes = Array(text.utf8)
        }
    }

    private static let forbidden = [
        Case("no Host", "GET / HTTP/1.1\r\n\r\n"),
        Case("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        Case("two Hosts in 1.0", "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n"),
        Case("path in Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        Case("user in Host", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
        Case(
            "Content-Length with chunked",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case(
            "chunked with Content-Length 0",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
        Case("chunked GET", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case("chunked HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case("identity coding", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"),
        Case("disguised chunked", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n"),
        Case("chunked POST", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
        Case("GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        Case("HEAD with a body", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        Case("POST with a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
        Case(
            "body announced with Expect",
            "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"),
        Case("two equal lengths", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        Case(
            "two different lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\nabc"),
        Case("negative length", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
        Case("list of lengths", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n"),
        Case("length that is no number", "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5x\r\n\r\nabcde"),
        Case("empty length", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"),
        Case("endless length", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        Case("length that is no number in 1.0", "GET / HTTP/1.0\r\nContent-Length: 0x5\r\n\r\n"),
        Case("padded length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 00\r\n\r\n"),
        Case("folded field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"),
        Case("field folded with a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\nY: d\r\n\r\n"),
        Case("fold of nothing", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n \r\n\r\n"),
        Case("first field folded", "GET / HTTP/1.1\r\n Host: a\r\nX: b\r\n\r\n"),
        Case("bare line feed", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"),
        Case("bare line feeds only", "GET / HTTP/1.1\nHost: a\n\n"),
        Case("bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n"),
        Case("bare carriage return", "GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n"),
        Case("zero byte in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"),
        Case("zero byte before a line end", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n"),
        Case("hidden field", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0\0Y\0 c\r\n\r\n"),
        Case("control character in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1}\r\n\r\n"),
        Case("space before a colon", "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n"),
        Case("empty field name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"),
        Case("field name that is no token", "GET / HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n"),
        Case("absolute form", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("authority form", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("asterisk without OPTIONS", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("two spaces after the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("tab in the target", "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("method that is no token", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        Case("carriage return after blanks", "GET / HTTP/1.1\r\nHost: a\r\nX: b \rY: c\r\n\r\n"),
        Case("line feed after blanks", "GET / HTTP/1.1\r\nHost: a\r\nX: b \nY: c\r\n\r\n"),
        Case("zero byte after blanks", "GET / HTTP/1.1\r\nHost: a\r\nX: b \0 \r\n\r\n"),
        Case("blank line of blanks", "GET / HTTP/1.1\r\nHost: a\r\nX: b \r\n \r\n\r\n"),
    ]

    @Test(arguments: forbidden)
    func `a header that RFC 9112 forbids is rejected, and the connection closes`(forbidden: Case) async throws {
        let asked = EventCounter()
        let server = try TestServer.start { request in
            asked.increment()
            return .ready(.echo(request))
        }
        let client = try RawHTTPClient(port: server.port)
        client.send(forbidden.bytes)
        let response = try await client.response(isHead: forbidden.bytes.starts(with: Array("HEAD".utf8)))
        #expect(response.status == 400)
        #expect(response.headerFields[.connection] == "close")
        #expect(response.headerFields[.contentType] == "application/problem+json")
        #expect(response.headerFields[.contentLength] == String("badRequest".utf8.count))
        #expect(try await client.remainder().isEmpty == true)
        #expect(await eventually { server.connectionCount == 0 })
        #expect(asked.count == 0)
    }

    @Test func `a zero byte in the target ends the connection`() async throws {
        let asked = EventCounter()
        let server = try TestServer.start { request in
            asked.increment()
            return .ready(.echo(request))
        }
        let client = try RawHTTPClient(port: server.port)
        client.send("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n")
        // Version 1 of the library closes the connection without a response.
        let text = try await String(decoding: client.remainder(), as: UTF8.self)
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400 "))
        #expect(await eventually { server.connectionCount == 0 })
        #expect(asked.count == 0)
    }

    @Test(arguments: [
        ("GET / HTTP/2.0\r\n", 505), ("GET / HTTP/0.9\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("GET /\r\n", 400), ("GET / HTTX/1.1\r\n", 400), ("GET / HTTP/1.10\r\n", 400), ("GET / \r\n", 400),
        ("GET / HTTP/1.1\r\nHost a\r\n\r\n", 400), ("GET \(String(repeating: "a", count: 60_000))", 414),
    ])
    func `the responder formats the library's own rejections, and other unfinished headers stay open`(
        text: String, status: Int
    ) async throws {
        let server = try TestServer.start(configured: { $0.threads = 1 })
        let others = try (0..<3).map { _ in try RawHTTPClient(port: server.port) }
        for other in others { other.send("GET /other HTTP/1.") }
        let client = try RawHTTPClient(port: server.port)
        client.send(text)
        let response = try await client.response()
        #expect(response.status == status && response.headerFields[.contentType] == "application/problem+json")
        #expect(response.headerFields[.connection] == "close")
        #expect(try await client.remainder().isEmpty)
        for other in others {
            other.send("1\r\nHost: a\r\n\r\n")
            #expect(try await other.response().status == 200)
        }
    }

    @Test func `several concurrent bodies with malformed chunks are each rejected by the responder`() async throws {
        let server = try TestServer.start(configured: { $0.threads = 1 })
        let clients = try (0..<4).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients {
            client.send("POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab")
        }
        for client in clients.dropLast() {
            client.send("cd\r\n")
            let response = try await client.response()
            #expect(response.status == 400 && response.text == "badRequest")
        }
        clients[3].send("c\r\n0\r\n\r\n")
        #expect(try await clients[3].response().status == 200)
    }

    @Test func `a header in parts is rejected, and other connections are served`() async throws {
        let server = try TestServer.start(configured: { $0.threads = 1 })
        let clients = try (0..<4).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients { client.send("GET / HTTP/1.1\r\n") }
        let between = try RawHTTPClient(port: server.port)
        between.get("/")
        #expect(try await between.response().status == 200)
        clients[1].send("Host: a\r\nContent-Length: -1\r\n\r\n")
        let rejected = try await clients[1].response()
        #expect(rejected.status == 400 && rejected.text == "badRequest")
        #expect(try await clients[1].remainder().isEmpty)
        for client in [clients[0], clients[2], clients[3]] {
            client.send("Host: a\r\n\r\n")
            #expect(try await client.response().status == 200)
        }
    }

    @Test func `more cookies than the library can hold are rejected by the responder`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(String(repeating: "a=b; ", count: 3_000))\r\n\r\n")
        let response = try await client.response()
        #expect(response.status == 431 && response.text == "fieldsTooLarge")
        #expect(try await client.remainder().isEmpty)
    }

    @Test func `a rejection follows the responses to earlier requests`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n")
        #expect(try await client.response().text.hasPrefix("GET /1"))
        #expect(try await client.response().status == 400)
        #expect(try await client.remainder().isEmpty)
    }

    @Test func `a target that is not UTF-8 is rejected`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send(Array("GET /".utf8) + [0xe4] + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(try await client.response().status == 400)
    }

    @Test func `a request after a rejected one is never served`() async throws {
        let asked = EventCounter()
        let server = try TestServer.start { request in
            asked.increment()
            return .ready(.echo(request))
        }
        let client = try RawHTTPClient(port: server.port)
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 37\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\nxxxx")
        #expect(try await client.response().status == 400)
        #expect(await eventually { server.connectionCount == 0 })
        #expect(asked.count == 0)
    }

    @Test func `a rejected client that continues to send is not reset before it reads the rejection`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        #expect(await eventually { server.connectionCount == 0 })
        for _ in 0..<8 { client.send([UInt8](repeating: 0x61, count: 100_000)) }
        client.finishSending()
        let text = String(decoding: try await client.remainder(), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `rejected clients that never leave delay no other client and no shutdown`() async throws {
        let server = try TestServer.start { _ in .ready(.text("")) }
        var clients: [RawHTTPClient] = []
        for _ in 0..<100 {
            let client = try RawHTTPClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
            #expect(try await client.response().status == 400)
            clients.append(client)
        }
        #expect(await eventually { server.connectionCount == 0 })
        let other = try RawHTTPClient(port: server.port)
        other.get("/")
        #expect(try await other.response().status == 200)
        #expect(await server.shutDown(timeLimit: .seconds(10)))
        for client in clients { client.close() }
    }

    @Test func `a request that the library rejects closes the connection and reaches no responder`() async throws {
        let asked = EventCounter()
        let server = try TestServer.start { request in
            asked.increment()
            return .ready(.echo(request))
        }
        let headers = [
            "GET / HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
            "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "GET /\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ]
        for header in headers {
            let client = try RawHTTPClient(port: server.port)
            client.send(header)
            let text = String(decoding: try await client.remainder(), as: UTF8.self)
            #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 5"), "\(header)")
            guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
            #expect(
                text[..<end.lowerBound].contains("Content-Length: \(text[end.upperBound...].utf8.count)"), "\(text)")
        }
        #expect(asked.count == 0)
    }

    @Test(arguments: [(8192, 200), (8193, 414), (20_000, 414)])
    func `a target over 8 KiB is too long`(length: Int, status: Int) async throws {
        let server = try TestServer.start { _ in .ready(.text("")) }
        let client = try RawHTTPClient(port: server.port)
        client.get("/" + String(repeating: "a", count: length - 1))
        #expect(try await client.response().status == status)
    }

    @Test func `a target of ampersands costs no more than another`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        let target = "/?" + String(repeating: "&a", count: 4_000)
        client.get(target)
        #expect(try await client.response().text == "GET \(target)\nHost: test")
    }

    @Test(arguments: [(64, 200), (65, 431), (300, 431)])
    func `more than 64 fields are too many`(count: Int, status: Int) async throws {
        let server = try TestServer.start { _ in .ready(.text("")) }
        let client = try RawHTTPClient(port: server.port)
        let more = (1..<count).map { "X\($0): a\r\n" }.joined()
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\(more)\r\n")
        #expect(try await client.response().status == status)
    }

    @Test(arguments: [(16_384, 200), (16_385, 431), (30_000, 431)])
    func `fields of more than 16 KiB are too large`(size: Int, status: Int) async throws {
        let server = try TestServer.start { _ in .ready(.text("")) }
        let client = try RawHTTPClient(port: server.port)
        let fields = "Host: a\r\nX: \r\n"
        let filler = String(repeating: "b", count: size - fields.utf8.count)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: \(filler)\r\n\r\n")
        #expect(try await client.response().status == status)
    }

    @Test func `the longest target, the most fields and a long response header fit together`() async throws {
        let server = try TestServer.start { _ in
            var response = HTTPResponse.text("x")
            for _ in 0..<16 { response.headerFields.append(.serverTiming, String(repeating: "t", count: 256)) }
            return .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        let filler = String(repeating: "b", count: 240)
        let fields = (1..<64).map { "X\($0): \(filler)\r\n" }.joined()
        client.send("GET /\(String(repeating: "a", count: 8191)) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        let response = try await client.response()
        #expect(response.status == 200)
        #expect(response.headerFields.values(of: .serverTiming).count == 16)
    }
}
