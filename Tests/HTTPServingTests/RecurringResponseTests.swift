import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecurringResponseTests {
    @Test func `one response serves many connections and methods, and its body is released once`() async throws {
        let released = EventCounter()
        do {
            let recurring = RecurringResponse(
                HTTPResponse(
                    status: .ok, headerFields: [.eTag: "\"1\""],
                    body: .shared(.nines(count: 100_000, released: released))))
            let server = try TestServer.start { _ in .recurring(recurring, by: ScriptedAnswer(nil)) }
            for _ in 0..<8 {
                let client = try RawHTTPClient(port: server.port)
                for _ in 0..<3 {
                    client.get("/")
                    let response = try await client.response()
                    #expect(response.body == [UInt8](repeating: 9, count: 100_000))
                    #expect(response.headerFields[.eTag] == "\"1\"")
                    #expect(response.headerFields[.connection] == nil)
                }
            }
            let client = try RawHTTPClient(port: server.port)
            client.send("HEAD / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
            #expect(String(decoding: try await client.remainder(), as: UTF8.self).hasSuffix("\r\n\r\n"))
            #expect(released.count == 0)
            #expect(await server.shutDown(timeLimit: .seconds(5)))
        }
        await released.reached(1)
        #expect(released.count == 1)
    }

    @Test func `a response is formatted once`() {
        final class Form: Sendable {}
        let made = EventCounter()
        let recurring = RecurringResponse(HTTPResponse(status: .ok))
        #expect(recurring.encodedForm { _ in nil } == nil)
        let forms = (0..<3).map { _ in
            recurring.encodedForm { _ in
                made.increment()
                return Form()
            }
        }
        #expect(made.count == 1)
        #expect(forms.allSatisfy { $0 === forms[0] })
    }
}
