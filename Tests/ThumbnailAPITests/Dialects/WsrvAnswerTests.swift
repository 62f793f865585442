import Dialects
import HTTPTypes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct WsrvAnswerTests {
    @Test func `the root's page stays, and the dialect responds beside it`() async throws {
        let prefix = try #require(PathPrefix("/"))
        let listener = PublicListenerFixture { $0.otherDialects = [WsrvDialect(at: prefix)] }
        #expect(await listener.respond("/")[.contentType] == "text/html; charset=utf-8")
        #expect(await listener.respond("/?url=example.com/a.jpg&w=30").status == .ok)
        #expect(await listener.respond("/any/path.jpg?w=30&url=example.com/b.jpg").status == .ok)
        #expect(await listener.respond("/any/path.jpg?w=30").code == "no_such_route")
        #expect(await listener.respond("/?url=a").code == "bad_url")
        #expect(listener.thumbnails.requests.map(\.source) == ["http://example.com/a.jpg", "http://example.com/b.jpg"])
    }

    @Test func `signing keys close the dialect`() async throws {
        let prefix = try #require(PathPrefix("/wsrv"))
        let listener = PublicListenerFixture {
            $0.otherDialects = [WsrvDialect(at: prefix)]
            $0.signingKeys = [[UInt8](0..<32)]
        }
        #expect(await listener.respond("/wsrv?url=example.com/a.jpg").code == "bad_signature")
    }

    @Test func `a redirect carries the problem as JSON`() async throws {
        let prefix = try #require(PathPrefix("/"))
        let failing = StubThumbnails(make: { _ in throw StubError() })
        let listener = PublicListenerFixture(failing) { $0.otherDialects = [WsrvDialect(at: prefix)] }
        let answer = await listener.respond("/?url=example.com/a.jpg&default=https%3A%2F%2Fnamed.example%2Fb%20c.png")
        #expect(answer.status == .found && answer[.location] == "https://named.example/b%20c.png")
        #expect(answer[.contentType] == "application/json" && answer[.cacheControl] == "no-store")
        #expect(answer.text.contains("\"code\":\"origin_error\""))
        // Policy does not allow it.
        let rejected = await listener.respond("/?url=example.com/a.jpg&default=h.example/b.png")
        #expect(rejected.status == .badGateway && rejected.code == "origin_error")
    }
}
