import JSON
import Testing
import Text

@testable import alula

struct OperatorClientTests {
    private func answer(_ text: String) -> OperatorClient.Answer? { OperatorClient.answer(in: Array(text.utf8)) }

    @Test func `an answer is its status and its body`() throws {
        let found = answer("HTTP/1.1 202 Accepted\r\nA: b\r\ncontent-length: 7\r\n\r\n{\"a\":1}more")
        let answer = try #require(found)
        #expect(answer.status == 202 && answer.text == "{\"a\":1}")
        #expect(answer.json?.members?.count == 1)
        #expect(self.answer("HTTP/1.1 204 No Content\r\n\r\n")?.text == "")
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK", "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 two OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ])
    func `what is cut or foreign is no answer`(_ text: String) {
        #expect(answer(text) == nil)
    }

    @Test func `the summary tells what the service says`() throws {
        let status = try JSONReader.value(
            in: Array(
                #"{"version":"1.2.3","uptimeSeconds":93784,"draining":false,"activeDownloads":3,"queuedDownloads":2,"activeRenders":1,"origins":[{"origin":"https://a.example","state":"suspended","retryAfterSeconds":2.5}]}"#
                    .utf8))
        let caches = try JSONReader.value(
            in: Array(#"{"decoded":{"bytes":1572864,"capacity":104857600,"preferred":1,"entries":7}}"#.utf8))
        #expect(
            StatusText.lines(status: try #require(status.members), caches: caches) == [
                "service        1.2.3, running, up for 1 d 2 h", "downloads      3 running, 2 waiting",
                "renders        1 running", "decoded cache  1.5 MiB of 100.0 MiB (2 %), 7 entries",
                "origin         https://a.example: suspended, tried again in 3 s",
            ])
        #expect(StatusText.lines(status: [:], caches: nil) == ["service  ?, running, up for 0 s"])
    }
}
