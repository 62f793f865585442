import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPServerTests {
    @Test func `a response has the responder's fields and body, and the server's date and length`() async throws {
        let server = try TestServer.start { _ in
            var response = HTTPResponse.text("hello")
            response.headerFields.append(.eTag, "\"1\"")
            response.headerFields.append(.contentLength, "999")
            response.headerFields.append(.date, "never")
            response.headerFields.append(.connection, "upgrade")
            return .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        let response = try await client.response()
        #expect(response.status == 200)
        #expect(response.text == "hello")
        #expect(response.headerFields[.contentType] == "text/plain")
        #expect(response.headerFields[.eTag] == "\"1\"")
        #expect(response.headerFields.values(of: .contentLength) == ["5"])
        #expect(response.headerFields.values(of: .date).compactMap { HTTPDate($0) }.count == 1)
        #expect(response.headerFields[.connection] == nil)
    }

    @Test func `a response with a date is sent with only that date`() async throws {
        let date = HTTPDate(secondsSince1970: 784_111_777).imfFixdate
        let server = try TestServer.start { _ in
            var response = HTTPResponse.text("hello")
            response.headerFields.append(.date, date)
            return .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        #expect(try await client.response().headerFields.values(of: .date) == [date])
    }

    @Test func `method, raw target and fields reach the responder unchanged`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send(
            "BREW /a%2Fb/../c?x=%41+&&y=?;\u{e4} HTTP/1.1\r\nHost: test\r\nx-One: \t a  b \t\r\nX-Two:\r\nx-one: c\r\n\r\n"
        )
        let lines = try await client.response().text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines == ["BREW /a%2Fb/../c?x=%41+&&y=?;\u{e4}", "Host: test", "x-One: a  b", "X-Two: ", "x-one: c"])
    }

    @Test func `bytes beyond ASCII in fields are read and written as ISO 8859-1`() async throws {
        let server = try TestServer.start { request in
            var response = HTTPResponse.text("")
            if let agent = request.headerFields[.userAgent] { response.headerFields.append(.contentDisposition, agent) }
            return .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        client.send(
            Array("GET / HTTP/1.1\r\nHost: test\r\nUser-Agent: caf".utf8) + [0xe9]
                + Array("\r\nConnection: close\r\n\r\n".utf8))
        let bytes = try await client.remainder()
        #expect(bytes.split(separator: 0x0a).contains(Array("Content-Disposition: caf".utf8)[...] + [0xe9, 0x0d]))
    }

    @Test func `a value with a line end is omitted`() async throws {
        let server = try TestServer.start { _ in
            var response = HTTPResponse.text("x")
            response.headerFields.append(.eTag, "a\r\nSet-Cookie: b")
            return .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        client.get("/")
        let response = try await client.response()
        #expect(response.status == 200)
        #expect(response.headerFields[.eTag] == nil)
        #expect(response.headerFields.count == 3)
    }

    @Test(arguments: [1, 2, 4])
    func `a connection serves consecutive requests`(threads: Int) async throws {
        let server = try TestServer.start(configured: { $0.threads = threads })
        let client = try RawHTTPClient(port: server.port)
        for number in 0..<100 {
            client.get("/\(number)")
            #expect(try await client.response().text.hasPrefix("GET /\(number)\n"))
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [false, true])
    func `pipelined requests are answered in order`(isPromised: Bool) async throws {
        let server = try TestServer.start { request in
            isPromised ? .deferred { .echo(request) } : .ready(.echo(request))
        }
        let client = try RawHTTPClient(port: server.port)
        client.send((0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: test\r\n\r\n" }.joined())
        for number in 0..<50 {
            #expect(try await client.response().text.hasPrefix("GET /\(number)\n"))
        }
    }

    @Test func `a client that expects 100 Continue without a body is answered, and so is its next request`()
        async throws
    {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        let first = "GET /1 HTTP/1.1\r\nHost: test\r\nAccept: a\r\nexpect: 100-Continue\r\n\r\n"
        client.send(first + "GET /2 HTTP/1.1\r\nHost: test\r\n\r\n")
        // There is no interim response, and the received bytes are the sent ones.
        #expect(try await client.response().text == "GET /1\nHost: test\nAccept: a\nexpect: 100-Continue")
        #expect(try await client.response().text.hasPrefix("GET /2\n"))
    }

    @Test(arguments: [false, true])
    func `HEAD and 304 announce the length of the body and send none of it`(isPromised: Bool) async throws {
        let bytes = SharedBytes([UInt8](repeating: 7, count: 1234))
        let server = try TestServer.start { request in
            let status: HTTPResponse.Status = request.target == "/same" ? .notModified : .ok
            let response = HTTPResponse(status: status, headerFields: [.eTag: "\"1\""], body: .shared(bytes))
            return isPromised ? .deferred { response } : .ready(response)
        }
        let client = try RawHTTPClient(port: server.port)
        client.send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n")
        let head = try await client.response(isHead: true)
        #expect(head.status == 200)
        #expect(head.headerFields[.contentLength] == "1234")
        client.get("/same")
        let same = try await client.response()
        #expect(same.status == 304)
        #expect(same.headerFields[.contentLength] == "1234")
        #expect(same.headerFields[.eTag] == "\"1\"")
        client.get("/")
        #expect(try await client.response().body.count == 1234)
    }

    @Test func `204 has neither length nor body`() async throws {
        let server = try TestServer.start { _ in .ready(HTTPResponse(status: .noContent)) }
        let client = try RawHTTPClient(port: server.port)
        client.send("DELETE / HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n")
        let response = try await client.response()
        #expect(response.status == 204)
        #expect(response.headerFields[.contentLength] == nil)
    }

    @Test func `HTTP 1.0 is served, and closes unless the client requests keep-alive`() async throws {
        let server = try TestServer.start()
        let client = try RawHTTPClient(port: server.port)
        client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(try await client.response().headerFields[.connection] == "Keep-Alive")
        client.send("GET /b HTTP/1.0\r\n\r\n")
        #expect(try await client.response().headerFields[.connection] == "close")
        #expect(try await client.remainder().isEmpty)
    }

    @Test(arguments: [false, true])
    func `a body is lent without a copy and released once, after it is sent`(isPromised: Bool) async throws {
        let releases = EventCounter()
        // The responder gives up its only reference, so a copy would release the original before it is read.
        let body = Locked<SharedBytes?>(.nines(count: 16 << 20, released: releases))
        let asked = EventCounter()
        let server = try TestServer.start { _ in
            asked.increment()
            let taken = body.withLock { body in
                defer { body = nil }
                return body
            }
            let response = HTTPResponse(status: .ok, body: taken.map { .shared($0) } ?? .empty)
            return isPromised ? .deferred { response } : .ready(response)
        }
        let client = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        client.get("/")
        await asked.reached(1)
        client.get("/next")
        let response = try await client.response()
        // Compare all bytes at once; a loop would block one of the task threads for long.
        let isWhole = response.body == [UInt8](repeating: 9, count: 16 << 20)
        #expect(isWhole)
        #expect(try await client.response().body.isEmpty)
        await releases.reached(1)
        #expect(await server.shutDown(timeLimit: .seconds(5)))
        #expect(releases.count == 1)
    }

    @Test func `a lent body is retained while unread and released when the client leaves`() async throws {
        let releases = EventCounter()
        let body = Locked<SharedBytes?>(.nines(count: 16 << 20, released: releases))
        let asked = EventCounter()
        let server = try TestServer.start { _ in
            let taken = body.withLock { body in
                defer { body = nil }
                return body
            }
            asked.increment()
            return .ready(HTTPResponse(status: .ok, body: taken.map { .shared($0) } ?? .empty))
        }
        let client = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        client.get("/")
        await asked.reached(1)
        // The response on another connection shows that the event threads have continued.
        let other = try RawHTTPClient(port: server.port)
        other.get("/")
        #expect(try await other.response().status == 200)
        #expect(releases.count == 0)
        client.close()
        await releases.reached(1)
        #expect(await eventually { server.connectionCount == 1 })
        withExtendedLifetime(other) {}
    }
}
