import Dialects
import HTTPTypes
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailAPI
@testable import ThumbnailPipeline

@Suite struct InfoDialectTests {
    private static let source = "url=https%3A%2F%2Fh%2Fa.jpg"

    private func facts(_ target: String) throws -> FactsRequest? {
        try InfoDialect().request(in: RequestedTarget(target)).form.facts
    }

    @Test func `facts are requested by name`() throws {
        #expect(try facts("/info?\(Self.source)")?.features == [])
        let facts = try #require(
            try facts("/info?include=color,blurhash,palette,thumbhash,preview&components=1x9&\(Self.source)"))
        #expect(facts.features == Set(ImageAppearance.Feature.allCases))
        #expect((facts.columns, facts.rows) == (1, 9))
        let usual = try #require(try self.facts("/info?include=blurhash&\(Self.source)"))
        #expect((usual.columns, usual.rows) == (4, 3))
    }

    @Test(
        arguments: [
            ("include=", "include"), ("include=colors", "include"), ("include=color,color", "include"),
            ("include=color,", "include"), ("include=exif,exif", "include"), ("components=4x3", "components"),
            ("include=color&components=4x3", "components"),
            ("include=blurhash&components=0x3", "components"), ("include=blurhash&components=4x10", "components"),
            ("include=blurhash&components=4X3", "components"), ("expires=x", "expires"), ("sig=x", "sig"),
        ])
    func `a wrong value is reported`(query: String, parameter: String) async {
        let response = await PublicListenerFixture().respond("/info?\(Self.source)&\(query)")
        #expect(response.code == "bad_parameter" && response.member("parameter") == parameter)
    }

    @Test func `only its own parameters are accepted, each once, and a source is required`() async {
        #expect(await PublicListenerFixture().respond("/info?\(Self.source)&w=3").code == "unknown_parameter")
        #expect(await PublicListenerFixture().respond("/info?\(Self.source)&\(Self.source)").code == "bad_parameter")
        #expect(await PublicListenerFixture().respond("/info").code == "missing_parameter")
        #expect(await PublicListenerFixture().respond("/info?url=").code == "bad_url")
        #expect(await PublicListenerFixture().respond("/info/?\(Self.source)").code == "no_such_route")
    }

    @Test func `the response is JSON with a thumbnail's fields`() async throws {
        let date = try #require(HTTPDate("Sun, 22 Nov 2026 10:00:00 GMT"))
        let thumbnails = StubThumbnails(make: { _ in
            .sample(lastModified: date, freshness: Freshness(lifetime: 60, age: 7))
        })
        let listener = PublicListenerFixture(thumbnails)
        let response = await listener.respond("/info?\(Self.source)")
        #expect(
            response.text
                == #"{"url":"https://h/a.jpg","format":"jpeg","mediaType":"image/jpeg","width":30,"height":40,"#
                + #""orientation":6,"frames":1,"hasAlpha":false,"bitDepth":8,"progressive":false,"#
                + #""colorSpace":"srgb","hdr":"none","bytes":1234,"#
                + #""etag":"W/\"x\"","lastModified":"Sun, 22 Nov 2026 10:00:00 GMT"}"#)
        #expect(response[.contentType] == "application/json" && response[.age] == "7")
        #expect(response[.cacheControl] == "public, max-age=60" && response[.cacheStatus] == "alula-source;hit")
        #expect(response[.lastModified] == "Sun, 22 Nov 2026 10:00:00 GMT" && response[.contentDisposition] == nil)
        let tag = try #require(response[.eTag])
        #expect(await listener.respond("/info?\(Self.source)", fields: [.ifNoneMatch: tag]).status == .notModified)
        #expect(listener.registry.prometheusText.contains(#"alula_requests_total{route="info",status="200"} 1"#))
        #expect(await listener.respond("/info?\(Self.source)", method: .post).status == .methodNotAllowed)
    }

    @Test func `Exif is returned on request, without unknown values`() throws {
        var requested = try #require(try facts("/info?include=exif&\(Self.source)"))
        #expect(requested.texts == [.exif] && requested.features == [])
        func text(_ exif: EXIFTexts?) -> String {
            let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 4, height: 3), exif: exif)
            return FactsText.text(SourceFacts(header: header, byteCount: 9), of: nil, requested: requested)
        }
        let exif = EXIFTexts(
            make: Array("Alpine  ".utf8), dateTime: Array("2026:11:22 10:00:00".utf8),
            attribution: Attribution(artist: Array(" ".utf8), copyright: Array("Ann\0 Bob\n".utf8)))
        #expect(
            text(exif).hasSuffix(
                #""exif":{"make":"Alpine","dateTime":"2026:11:22 10:00:00","copyright":"Ann, Bob"}}"#))
        #expect(text(nil).hasSuffix(#""exif":{}}"#))
        requested.texts = []
        #expect(!text(exif).contains("exif"))
    }

    @Test func `rights are returned on request, without marks that no field has`() throws {
        let requested = try #require(try facts("/info?include=rights&\(Self.source)"))
        func text(_ rights: SourceRights?) -> String {
            var header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 4, height: 3))
            header.rights = rights
            return FactsText.text(SourceFacts(header: header, byteCount: 9), of: nil, requested: requested)
        }
        #expect(text(nil).hasSuffix(#""rights":{}}"#))
        var rights = SourceRights()
        rights.add(.copyright, text: "© \"Ann\"".utf8)
        rights.add(.creator, text: "Ann".utf8)
        rights.add(.aiPrompt, text: "a cat".utf8)
        rights.hasManifest = true
        #expect(text(rights).hasSuffix(#""rights":{"creator":"Ann","copyright":"© \"Ann\""},"c2pa":true}"#))
    }

    @Test func `signing keys close it like thumbnails`() async {
        let key = [UInt8](0..<32)
        let listener = PublicListenerFixture { $0.signingKeys = [key] }
        #expect(await listener.respond("/info?\(Self.source)").code == "bad_signature")
        let signed = URLSigner.sign(target: "/info?\(Self.source)&expires=999999999999", key: key)
        #expect(await listener.respond(signed).status == .ok)
        let old = URLSigner.sign(target: "/info?\(Self.source)&expires=1", key: key)
        listener.time.advance(by: .seconds(5))
        #expect(await listener.respond(old).code == "expired")
    }

    @Test func `a failure of the source is its own`() async {
        let failing = StubThumbnails(make: { _ in throw StubError() })
        #expect(await PublicListenerFixture(failing).respond("/info?\(Self.source)").code == "origin_error")
    }
}
