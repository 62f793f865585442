import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemoTests {
    @Test(.unlessThreadSanitized("the first image takes longer than the client waits"))
    func `the demo prints a URL that shows a thumbnail`() async throws {
        let process = AlulaProcess(["serve", "--demo", "--port", "0", "--admin-port", "0"])
        let text = try process.start(until: "Ctrl-C")
        let match = try #require(text.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/thumbnail\S+)/))
        let client = try RawHTTPClient(port: try #require(UInt16(match.1)))
        client.send("GET \(match.2) HTTP/1.1\r\nHost: alula\r\n\r\n")
        let answer = try await client.response()
        #expect(answer.status == 200)
        let header = try ImageHeader.inspect(SharedBytes(answer.body))
        #expect(header.size == PixelSize(width: 300, height: 225))
        // No other port of this machine may be fetched from.
        client.send("GET /thumbnail?url=http://127.0.0.1:\(match.1)/ HTTP/1.1\r\nHost: alula\r\n\r\n")
        let rejected = try await client.response()
        #expect(
            rejected.status == 403
                && rejected.text.contains("The source is not fetched: allowedNetworks: 127.0.0.1 is not public"))
        client.send("GET /thumbnail?url=demo:sample.jpg&w=300 HTTP/1.1\r\nHost: alula\r\n\r\n")
        #expect(try await client.response().body == answer.body)
        #expect(process.terminate() == 0)
    }
}
