import Dialects
import HTTPTypes
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Responses whose form clients can choose in some dialects.
@Suite struct ResponseFormTests {
    private func listener(
        _ thumbnails: StubThumbnails = StubThumbnails(), _ change: @escaping @Sendable (inout ResponseForm) -> Void
    ) -> PublicListenerFixture {
        PublicListenerFixture(thumbnails) { $0.otherDialects = [FormDialect(change: change)] }
    }

    @Test func `a file name and an attachment are requested`() async {
        let named = await listener { $0.fileName = "my \"cat\"" }.respond("/f")
        #expect(named[.contentDisposition] == #"inline; filename="my cat.jpg""#)
        let saved = await listener { $0.isAttachment = true }.respond("/f")
        #expect(saved[.contentDisposition] == #"attachment; filename="a.jpg""#)
    }

    @Test func `a requested lifetime does not apply to private or expiring responses`() async {
        let shared = StubThumbnails(make: { _ in .sample(freshness: Freshness(lifetime: 60)) })
        #expect(
            await listener(shared) { $0.maximumAge = 86_400 }.respond("/f")[.cacheControl] == "public, max-age=86400")
        let closed = StubThumbnails(make: { _ in .sample(freshness: Freshness(storability: .none)) })
        #expect(await listener(closed) { $0.maximumAge = 86_400 }.respond("/f")[.cacheControl] == "no-store")
        let own = StubThumbnails(make: { _ in .sample(freshness: Freshness(storability: .private, lifetime: 5)) })
        #expect(await listener(own) { $0.maximumAge = 86_400 }.respond("/f")[.cacheControl] == "private, max-age=5")
    }

    @Test func `a dialect writes a response itself, with its own tag`() async throws {
        let cached = Thumbnail.sample(freshness: Freshness(lifetime: 60), slot: ResponseSlot())
        let listener = listener(StubThumbnails(cached: cached)) {
            $0.writer = ResponseWriter(for: RenderingOptions()) {
                WrittenResponse(mediaType: "text/plain", body: .text("\($0.image.size.width)x\($0.image.size.height)"))
            }
        }
        let response = await listener.respond("/f")
        #expect(response.status == .ok && response.text == "30x20")
        #expect(response[.contentType] == "text/plain" && response[.contentDisposition] == nil)
        #expect(response[.cacheControl] == "public, max-age=60")
        let tag = try #require(response[.eTag])
        #expect(tag != "\"abc\"")
        #expect(await listener.respond("/f", fields: [.ifNoneMatch: tag]).status == .notModified)
        #expect(await listener.respond("/f", fields: [.ifNoneMatch: "\"abc\""]).status == .ok)
    }

    @Test func `a failure redirects the client to the operator's fallback, if that could be fetched`() async {
        let failing = StubThumbnails(make: { _ in throw StubError() })
        let moved = await listener(failing) { $0.fallback = .configured("https://h/ä b.png") }.respond("/f")
        #expect(moved.status == .found && moved[.location] == "https://h/%C3%A4%20b.png")
        #expect(moved[.cacheControl] == "no-store" && moved[.alulaError] == "origin_error")
        #expect(
            await listener(failing) { $0.fallback = .configured("http://10.0.0.1/") }.respond("/f").status
                == .badGateway)
        let full = StubThumbnails(make: { _ in throw StubError(status: .serviceUnavailable, category: .overload) })
        #expect(
            await listener(full) { $0.fallback = .configured("https://h/b") }.respond("/f").status
                == .serviceUnavailable)
    }

    @Test func `a client's fallback leads to a host in the settings, or to a target of this service`() async {
        let failing = StubThumbnails(make: { _ in throw StubError() })
        func answer(_ url: ExactText, _ target: ExactText?) async -> HTTPResponse {
            await listener(failing) { $0.fallback = .named(url, asTarget: target) }.respond("/f")
        }
        #expect(await answer("https://named.example/a", "?url=x")[.location] == "https://named.example/a")
        let own = await answer("https://stranger.example/a", "?url=x")
        #expect(own.status == .found && own[.location] == "?url=x")
        #expect(await answer("https://stranger.example/a", nil).status == .badGateway)
        #expect(await answer("http://10.0.0.1/a", "?url=x").status == .badGateway)
    }
}

/// A dialect with one target, whose responses have a special form.
private struct FormDialect: Dialect {
    let name = "form"
    let signatures = DialectSignatures.none
    let change: @Sendable (inout ResponseForm) -> Void

    func match(on target: String) -> DialectMatch { target == "/f" ? .exact : .none }

    func isAuthentic(_ target: RequestedTarget) -> Bool { true }

    func request(in target: RequestedTarget) throws(APIError) -> Request {
        var query = Request(source: "https://h/a.png")
        change(&query.form)
        return query
    }
}
