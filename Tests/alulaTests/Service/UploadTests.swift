import Coordination
import HTTPServing
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// Uploads over real sockets.
@Suite(.timeLimit(.minutes(2)))
struct UploadTests {
    private static let size = 1 << 20

    /// A JPEG file of one mebibyte that differs for each number after the image data.
    private static func file(_ number: Int) -> [UInt8] {
        let image = ImageFixture.jpeg.array
        return image + [UInt8](repeating: UInt8(number), count: size - image.count)
    }

    private func head(_ field: String) -> String {
        "POST /thumbnail?w=20 HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n\(field)\r\n\r\n"
    }

    /// Starts an upload and sends all but its last byte.
    private func begun(_ running: RunningService, _ number: Int) throws -> RawHTTPClient {
        let client = try running.connect()
        client.send(head("Content-Length: \(Self.size)"))
        client.send(Self.file(number).dropLast())
        return client
    }

    /// One client may use a sixteenth of this memory budget: 4 MiB.
    private static let settings = [
        "--uploads", "on", "--memory-budget", "64MiB", "--request-timeout", "60s", "--trusted-proxies", "127.0.0.1/32",
    ]

    @Test(.unlessSanitized("it reads bodies more slowly than they must come"))
    func `twenty concurrent uploads stay within the memory budget, none is lost, and others are served meanwhile`()
        async throws
    {
        try await withService(["--uploads", "on", "--memory-budget", "320MiB", "--request-timeout", "60s"]) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let budget = running.service.budget
            let clients = try (0..<20).map { try begun(running, $0) }
            #expect(await eventually { budget.statistics.reserved >= 20 * (Self.size - 1) })
            #expect(try await running.thumbnail("/a.jpg").status == 200)
            #expect(budget.statistics.reserved >= 20 * (Self.size - 1))
            for (number, client) in clients.enumerated() { client.send([UInt8(number)]) }
            for client in clients {
                let answer = try await client.response()
                #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self).prefix(200))")
                #expect(answer.headerFields[.cacheControl] == "private, no-store")
                let figures = budget.statistics
                #expect(figures.reserved + figures.allocated <= figures.limit)
            }
            #expect(await eventually { budget.statistics.reserved == 0 })
            #expect(try await running.metric("alula_decodes_total") == 21)
        }
    }

    @Test func `one client's uploads beyond its share are rejected before they are sent, and others' continue`()
        async throws
    {
        try await withService(Self.settings) { running in
            let budget = running.service.budget
            let clients = try (0..<4).map { try begun(running, $0) }
            #expect(await eventually { budget.statistics.reserved >= 4 * (Self.size - 1) })
            func status(_ fields: String) async throws -> Int {
                let client = try running.connect()
                client.send(head("\(fields)Expect: 100-continue\r\nContent-Length: \(Self.size)"))
                return try await client.response(isHead: true).status
            }
            #expect(try await status("") == 503)
            #expect(try await status("X-Forwarded-For: 192.0.2.7\r\n") == 100)
            for (number, client) in clients.enumerated() { client.send([UInt8(number)]) }
            for client in clients { #expect(try await client.response().status == 200) }
        }
    }

    @Test func `silent uploads take no memory, and misses are served beside them`() async throws {
        try await withService(Self.settings) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let silent = try (0..<64).map { _ in try running.connect() }
            for client in silent { client.send(head("Content-Length: 4000000")) }
            #expect(await eventually { running.service.publicServer.connectionCount >= 64 })
            #expect(try await running.thumbnail("/a.jpg").status == 200)
            #expect(running.service.budget.statistics.reserved == 0)
            let uploader = try running.connect()
            let file = ImageFixture.jpeg.array
            uploader.send(head("Content-Length: \(file.count)"))
            uploader.send(file)
            #expect(try await uploader.response().status == 200)
        }
    }

    @Test func `a preflight, and a wrong route without a length, are answered over the wire`() async throws {
        try await withService(Self.settings + ["--allow-origin", "*"]) { running in
            let client = try running.connect()
            client.send("OPTIONS /thumbnails HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\n\r\n")
            #expect(try await client.response().status == 204)
            client.send("POST /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 404)
            client.send("DELETE /thumbnail HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await client.response().status == 405)
        }
    }

    @Test(arguments: ["Content-Length: 3999999", "Transfer-Encoding: chunked"])
    func `a client that leaves during its upload releases its memory`(field: String) async throws {
        try await withService(Self.settings) { running in
            let budget = running.service.budget
            let client = try running.connect()
            client.send(head(field) + "40000\r\n")
            client.send([UInt8](repeating: 1, count: 1 << 18))
            #expect(await eventually { budget.statistics.reserved > 0 })
            client.close()
            #expect(await eventually { budget.statistics.reserved == 0 })
        }
    }

    @Test func `a chunked upload is treated like one with a length`() async throws {
        try await withService(Self.settings) { running in
            let file = ImageFixture.jpeg.array
            let client = try running.connect()
            client.send(head("Content-Length: \(file.count)"))
            client.send(file)
            let known = try await client.response()
            let other = try running.connect()
            other.send(head("Transfer-Encoding: chunked") + String(file.count, radix: 16) + "\r\n")
            other.send(file)
            other.send("\r\n0\r\n\r\n")
            let chunked = try await other.response()
            #expect(known.status == 200 && chunked.status == 200 && known.body == chunked.body)
            #expect(known.headerFields[.eTag] == chunked.headerFields[.eTag])
        }
    }
}
