import Dialects
import HTTPTypes
import Memory
import Prefetching
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

@Suite struct DialectTests {
    private static let target = "/t/seal/300/example.com/a.png"
    private let dialect = TinyDialect()

    private func listener(_ thumbnails: StubThumbnails = StubThumbnails()) -> PublicListenerFixture {
        PublicListenerFixture(thumbnails) { $0.otherDialects = [dialect] }
    }

    @Test func `a target is parsed by its dialect`() async {
        let listener = listener()
        #expect(await listener.respond(Self.target).status == .ok)
        #expect(await listener.respond("/thumbnail?url=https://example.com/b.png&w=20").status == .ok)
        #expect(
            listener.thumbnails.requests.map(\.source) == ["https://example.com/a.png", "https://example.com/b.png"])
        #expect(listener.thumbnails.requests.map(\.nativeOptions?.width) == [300, 20])
        #expect(dialect.readingCount == 1)
        #expect(await listener.respond("/x/seal/300/example.com/a.png").code == "no_such_route")
    }

    @Test func `a dialect at the root leaves Alula's own routes unchanged`() async {
        let rest = TinyDialect(at: "/", matching: .fallback)
        let listener = PublicListenerFixture { $0.otherDialects = [rest] }
        for target in ["/", "/?a", "/health/live", "/openapi.yaml", "/thumbnail?url=x:y"] {
            #expect(await listener.respond(target).status == .ok, "\(target)")
        }
        #expect(rest.readingCount == 0)
        #expect(await listener.respond("/seal/20/example.com/a.png").status == .ok)
        #expect(listener.thumbnails.requests.last?.nativeOptions?.width == 20)
    }

    @Test func `an exact match precedes Alula's own page, and a match of the remaining targets`() async {
        let rest = TinyDialect(at: "/", matching: .fallback)
        let query = TinyDialect(at: "/?url=")
        let listener = PublicListenerFixture { $0.otherDialects = [rest, query] }
        #expect(await listener.respond("/?url=seal/20/example.com/a.png").status == .ok)
        #expect(rest.readingCount == 0 && query.readingCount == 1)
        #expect(await listener.respond("/")[.contentType] == "text/html; charset=utf-8")
    }

    @Test func `a dialect checks its signatures itself, before it parses anything`() async {
        let dialect = TinyDialect(signatures: .required)
        let listener = PublicListenerFixture {
            $0.otherDialects = [dialect]
            $0.signingKeys = [[UInt8](0..<32)]
        }
        #expect(await listener.respond(Self.target).status == .ok)
        let response = await listener.respond("/t/broken/nonsense")
        #expect(response.status == .forbidden && response.text == "tiny bad_signature")
        #expect(dialect.readingCount == 1)
        #expect(await listener.respond("/thumbnail?url=x:y").code == "bad_signature")
    }

    @Test func `a dialect without keys opens nothing that signing keys close, unless it is named`() async {
        let keyless = TinyDialect()
        func listener(keys: [[UInt8]], unsigned: Set<ExactText> = []) -> PublicListenerFixture {
            PublicListenerFixture {
                $0.otherDialects = [keyless]
                $0.signingKeys = keys
                $0.unsignedDialects = unsigned
            }
        }
        let keys = [[UInt8](0..<32)]
        let response = await listener(keys: keys).respond(Self.target)
        #expect(response.status == .forbidden && response.text == "tiny bad_signature")
        #expect(await listener(keys: keys, unsigned: ["thumbor"]).respond(Self.target).status == .forbidden)
        #expect(keyless.readingCount == 0)
        #expect(await listener(keys: keys, unsigned: ["tiny"]).respond(Self.target).status == .ok)
        #expect(await listener(keys: []).respond(Self.target).status == .ok)
    }

    /// All unsigned requests for an image to Alula's own routes.
    private static let ownRequests: [(HTTPRequest.Method, String, HTTPFields, [UInt8])] = [
        (.get, "/thumbnail?url=https%3A%2F%2Fh%2Fa", [:], []), (.head, "/thumbnail?url=https%3A%2F%2Fh%2Fa", [:], []),
        (.get, "/info?url=https%3A%2F%2Fh%2Fa", [:], []), (.head, "/info?url=https%3A%2F%2Fh%2Fa", [:], []),
        (.post, "/thumbnail?w=3", [.contentType: "image/jpeg"], ImageFixture.jpeg.array),
        (
            .post, "/thumbnails", [.contentType: "application/json"],
            Array(#"{"url":"https://h/a","renditions":["w=9"]}"#.utf8)
        ),
    ]

    private func statuses(_ listener: PublicListenerFixture) async -> Set<Int> {
        var statuses: Set<Int> = []
        for (method, target, fields, body) in Self.ownRequests {
            statuses.insert(
                await listener.respond(target, method: method, fields: fields, body: body).status.code)
        }
        return statuses
    }

    @Test(arguments: [DialectSignatures.none, .optional, .required])
    func `the keys of any dialect close all routes without keys, unless they are named`(
        signatures: DialectSignatures
    ) async throws {
        let keyed = TinyDialect(signatures: signatures)
        let wsrv = WsrvDialect(at: try #require(PathPrefix("/wsrv")))
        func listener(_ change: @escaping (inout APIConfiguration) -> Void = { _ in }) -> PublicListenerFixture {
            PublicListenerFixture {
                $0.otherDialects = [keyed, wsrv]
                $0.takesUploads = true
                change(&$0)
            }
        }
        let isClosed = signatures != .none
        let shut = listener()
        #expect(await statuses(shut) == [isClosed ? 403 : 200])
        #expect(await shut.respond("/wsrv?url=example.com/a").status.code == (isClosed ? 403 : 200))
        // Targets of the keyed dialect are signed, or its settings allow unsigned ones.
        #expect(await shut.respond(Self.target).status == .ok)
        #expect(await shut.respond("/").text.contains("&quot;closed&quot;:\(isClosed)"))
        let named = listener { $0.unsignedDialects = ["native"] }
        #expect(await statuses(named) == [200])
        #expect(await named.respond("/wsrv?url=example.com/a").status.code == (isClosed ? 403 : 200))
        #expect(await named.respond("/").text.contains("&quot;closed&quot;:false"))
        let other = listener { $0.unsignedDialects = ["wsrv", "thumbnail"] }
        #expect(await statuses(other) == [isClosed ? 403 : 200])
        #expect(await other.respond("/wsrv?url=example.com/a").status == .ok)
    }

    @Test func `a dialect without a path, or a bound one, closes others and not itself`() async {
        let listener = PublicListenerFixture {
            $0.otherDialects = [dialect]
            $0.takesUploads = true
            $0.closingDialects = ["tiny"]
        }
        #expect(await statuses(listener) == [403])
        #expect(await listener.respond(Self.target).status == .ok)
        let nowhere = PublicListenerFixture {
            $0.otherDialects = [dialect]
            $0.closingDialects = ["thumbor"]
        }
        #expect(await nowhere.respond(Self.target).status == .forbidden)
    }

    @Test func `a dialect with keys and unsigned targets is closed by the keys of others`() async {
        let listener = PublicListenerFixture {
            $0.otherDialects = [TinyDialect(signatures: .optional)]
            $0.signingKeys = [[UInt8](0..<32)]
        }
        #expect(await listener.respond(Self.target).status == .forbidden)
    }

    @Test func `a dialect negotiates and formats failures itself`() async {
        let failing = StubThumbnails(make: { _ in throw StubError() })
        let listener = listener(failing)
        let response = await listener.respond(Self.target, fields: [.accept: "small"])
        #expect(response.status == .badGateway && response.text == "tiny origin_error")
        #expect(failing.requests.last?.nativeOptions?.format == .fixed(.webp))
        #expect(await listener.respond(Self.target).status == .badGateway)
        #expect(failing.requests.last?.nativeOptions?.format == .fixed(.png))
        #expect(await listener.respond("/t/seal/x/example.com/a.png").status == .notFound)
        let post = await listener.respond(Self.target, method: .post)
        #expect(
            post.status == .methodNotAllowed && post.text == "tiny method_not_allowed" && post[.allow] == "GET, HEAD")
        #expect(
            listener.log.lines.map { $0["route"] } == [
                .string("tiny"), .string("tiny"), .string("tiny"), .string("tiny"),
            ])
        #expect(listener.registry.prometheusText.contains(#"alula_requests_total{route="tiny",status="502"} 2"#))
    }

    @Test func `a repeated target is neither checked nor parsed again, in any dialect`() throws {
        let cached = Thumbnail.sample(freshness: Freshness(lifetime: 60, age: 7), slot: ResponseSlot())
        let listener = PublicListenerFixture(StubThumbnails(cached: cached)) {
            $0.accessLog = .off
            $0.otherDialects = [dialect]
        }
        for _ in 0..<2 {
            guard
                case .recurring(let first, let answer) = listener.responder.respond(
                    to: HTTPRequest(target: Self.target))
            else {
                Issue.record("not a recurring answer")
                return
            }
            #expect(answer.response() === first)
        }
        #expect(dialect.readingCount == 1)
        #expect(listener.registry.prometheusText.contains(#"alula_requests_total{route="tiny",status="200"} 4"#))
        #expect(listener.registry.prometheusText.contains(#"alula_requests_total{route="thumbnail",status="200"} 0"#))
    }

    @Test func `renditions of a job round-trip in a dialect`() throws {
        let reader = PrefetchReader(dialect)
        func targets(_ source: String, _ rendition: String) throws -> [String] {
            let body = #"{"sources":[{"url":"\#(source)","renditions":["20","\#(rendition)"]}]}"#
            return try reader.job(
                in: HTTPRequest(
                    method: .post, target: "/prefetch", headerFields: [.contentType: "application/json"],
                    body: SharedBytes(Array(body.utf8)))
            ).items.map(\.target)
        }
        let written = try targets("https://example.com/a.png", "300")
        #expect(written == ["/t/seal/20/example.com/a.png", Self.target])
        #expect(written.map { reader.work(of: PrefetchItem($0))?.request.nativeOptions?.width } == [20, 300])
        #expect(reader.work(of: PrefetchItem("/t/seal/x/example.com/a.png")) == nil)
        #expect(throws: APIError.badBody("/sources/0/renditions/1", "width: No number.")) {
            try targets("https://example.com/a.png", "x")
        }
    }
}
