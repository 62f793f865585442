import Downloading
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// Events of the whole service over real sockets.
@Suite(.timeLimit(.minutes(1)))
struct EventTests {
    /// Reads from a connection until `isEnough` holds; statistics arrive every second, so there is always more to read.
    private func read(
        _ client: RawHTTPClient, after text: String = "", until isEnough: (String) -> Bool
    ) async throws -> String {
        var text = text
        while !isEnough(text) { text += String(decoding: try await client.bytes(32), as: UTF8.self) }
        return text
    }

    @Test func `a thumbnail, a refresh and a removal are visible as they happen`() async throws {
        try await withService { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array))
            let client = try running.connect(to: .admin)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await client.response(isHead: true)
            #expect(try await running.thumbnail("/a?b=c").status == 200)
            let url = running.origin.url("/a?b=c")
            var text = try await read(client) { $0.contains("event: render") }
            #expect(text.contains(#"{"url":"\#(url)","state":"started","bytes":0,"total":null,"#))
            #expect(text.contains(#"{"url":"\#(url)","state":"finished","bytes":"#))
            #expect(text.contains("event: decode\ndata: {\"url\":\"\(url)\",\"milliseconds\":"))
            let query = url.replacing("?", with: "%3F").replacing("=", with: "%3D")
            #expect(
                try await running.send("POST", "/refresh?url=\(query)", to: .admin).text
                    == #"{"url":"\#(url)","result":"unchanged"}"#)
            let removed = try await running.send("DELETE", "/cache?url=\(query)", to: .admin).text
                .replacing(",\"complete\":true", with: "")
            text = try await read(client, after: text) { $0.contains("event: purge") }
            text = try await read(client, after: text) { $0.contains(removed.dropFirst().dropLast()) }
            client.close()
            #expect(await eventually { running.service.events.readerCount == 0 })
        }
    }

    @Test func `statistics are recorded without a reader of events`() async throws {
        try await withService { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array))
            #expect(try await running.thumbnail("/a").status == 200)
            func history() async throws -> String {
                try await running.send("GET", "/stats/history", to: .admin).text
            }
            var text = try await history()
            #expect(text.hasPrefix(#"{"ageSeconds":["#))
            // The request is counted after its response has been sent, so it is not in the first sample.
            while text.firstMatch(of: /"requests":\[0(,0)*,1/) == nil {
                await Task.yield()
                text = try await history()
            }
            #expect(text.firstMatch(of: /"decodes":\[0(,0)*,1/) != nil)
            #expect(running.service.events.readerCount == 0)
        }
    }

    @Test func `the shutdown ends the stream in order`() async throws {
        let client = try await withService { running in
            let client = try running.connect(to: .admin)
            client.send("GET /events?types=purge HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await client.response(isHead: true)
            return client
        }
        #expect(try await client.remainder() == Array("0\r\n\r\n".utf8))
    }

    @Test func `a download is canceled for all its callers`() async throws {
        try await withService { running in
            let gate = Gate()
            running.origin.serve("/slow", FakeResponse.status(404).held(at: gate))
            let callers = (0..<2).map { number in Task { try await running.thumbnail("/slow", "w=\(32 + number)") } }
            #expect(await eventually { running.service.downloader.fetches.first?.receipts.count == 2 })
            let answer = try await running.send(
                "DELETE", "/downloads?url=\(running.origin.url("/slow"))", to: .admin)
            #expect(answer.text == #"{"downloads":1,"receipts":2}"#)
            for caller in callers { #expect(try await caller.value.status == 409) }
            gate.open()
        }
    }
}
