import Coordination
import HTTPTypes
import Imaging
import Memory
import TestSupport
import Testing

@testable import alula

/// Images that clients send, over real sockets.
@Suite(.timeLimit(.minutes(2)))
struct UploadTests {
    private static let size = 1 << 20

    /// A JPEG file of one mebibyte that no other number makes: what follows the image is not shown.
    private static func file(_ number: Int) -> [UInt8] {
        let image = ImageFixture.jpeg.array
        return image + [UInt8](repeating: UInt8(number), count: size - image.count)
    }

    private func head(_ field: String) -> String {
        "POST /thumbnail?w=20 HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n\(field)\r\n\r\n"
    }

    /// Announces an upload and sends all of it but the last byte.
    private func begun(_ running: RunningService, _ number: Int) throws -> RawHTTPClient {
        let client = try running.connect()
        client.send(head("Content-Length: \(Self.size)"))
        client.send(Self.file(number).dropLast())
        return client
    }

    private static let settings = ["--uploads", "on", "--memory-budget", "64MiB", "--request-timeout", "60s"]

    @Test
    func `twenty uploads at once stay within the memory budget, nothing is lost, and others are served meanwhile`()
        async throws
    {
        try await withService(Self.settings) { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let budget = running.service.budget
            let clients = try (0..<20).map { try begun(running, $0) }
            #expect(await eventually { budget.statistics.reserved >= 20 * Self.size })
            #expect(try await running.thumbnail("/a.jpg").status == 200)
            #expect(budget.statistics.reserved >= 20 * Self.size)
            for (number, client) in clients.enumerated() { client.send([UInt8(number)]) }
            for client in clients {
                let answer = try await client.response()
                #expect(answer.status == 200 && answer.headerFields[.cacheControl] == "private, no-store")
                let figures = budget.statistics
                #expect(figures.reserved + figures.living <= figures.limit)
            }
            #expect(await eventually { budget.statistics.reserved == 0 })
            #expect(try await running.metric("alula_decodes_total") == 21)
        }
    }

    @Test func `uploads that find no room are refused before they are sent, and the others go on`() async throws {
        try await withService(Self.settings) { running in
            let budget = running.service.budget
            // Three quarters of the budget are for what arrives.
            let clients = try (0..<40).map { try begun(running, $0) }
            #expect(await eventually { budget.statistics.reserved >= 40 * Self.size })
            let more = try (0..<9).map { _ in try running.connect() }
            for client in more { client.send(head("Expect: 100-continue\r\nContent-Length: \(Self.size)")) }
            var statuses: [Int] = []
            for client in more { statuses.append(try await client.response(isHead: true).status) }
            #expect(statuses.filter { $0 == 503 }.count >= 1 && statuses.allSatisfy { [100, 503].contains($0) })
            for (number, client) in clients.enumerated() { client.send([UInt8(number)]) }
            for client in clients { #expect(try await client.response().status == 200) }
        }
    }

    @Test(arguments: ["Content-Length: 9999999", "Transfer-Encoding: chunked"])
    func `a client that leaves in its upload gives its memory back`(field: String) async throws {
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

    @Test func `an upload in chunks is answered like one with a length`() async throws {
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
