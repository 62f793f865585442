import Dialects
import Downloading
import HTTPTypes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Requests that may name tags, and the clients to which tags are attributed.
struct TagNamingTests {
    private static let url = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg"

    /// The dialect of thumbor with a key.
    private func thumbor() throws -> ThumborDialect {
        var configuration = ThumborConfiguration()
        configuration.prefix = PathPrefix("/t")
        configuration.key = Array("k".utf8)
        return try #require(ThumborDialect(configuration))
    }

    /// A listener with a preset that names a tag.
    private func listener(
        _ thumbnails: StubThumbnails = StubThumbnails(),
        _ configure: @escaping (inout APIConfiguration) -> Void = { _ in }
    ) throws -> PublicListenerFixture {
        PublicListenerFixture.takingUploads(thumbnails) {
            $0.accessLog = .off
            $0.vocabulary.presets["card"] = [("tag", "cards")]
            configure(&$0)
        }
    }

    @Test func `with tags: signed, unsigned requests name only the tags of presets`() async throws {
        let thumbnails = StubThumbnails()
        let listener = try listener(thumbnails) { $0.tags = .signed }
        for target in [Self.url + "&tag=a", Self.url + "&preset=card&tag=a"] {
            let rejected = await listener.respond(target)
            #expect(rejected.status == .forbidden && rejected.code == "tag_not_allowed", "\(target)")
            #expect(rejected.member("parameter") == "tag")
        }
        #expect(await listener.respond(Self.url + "&preset=card").status == .ok)
        #expect(thumbnails.requests.map(\.tags) == [["cards"]])
        let body = Array(#"{"url":"https://example.com/a.png","renditions":["tag=a","w=300"]}"#.utf8)
        let list = await listener.submit(SubmissionFixture.request("/thumbnails", SubmissionFixture.json), body)
        #expect(await list.received().contains("tag_not_allowed"))
    }

    @Test func `without keys all requests may name tags, and with any grammar's keys only signed ones`() async throws {
        #expect(await (try listener()).respond(Self.url + "&tag=a").status == .ok)
        let thumbor = try thumbor()
        let closed = try listener {
            $0.otherDialects = [thumbor]
            $0.unsignedDialects = ["native"]
        }
        #expect(await closed.respond(Self.url).status == .ok)
        #expect(await closed.respond(Self.url + "&tag=a").code == "tag_not_allowed")
        let open = try listener {
            $0.otherDialects = [thumbor]
            $0.unsignedDialects = ["native"]
            $0.tags = .any
        }
        #expect(await open.respond(Self.url + "&tag=a").status == .ok)
    }

    @Test func `a hit records its client's tags, and without a client if it is signed`() async throws {
        let sample = Thumbnail.sample(freshness: Freshness(lifetime: 60, age: 1), slot: ResponseSlot())
        let thumbnails = StubThumbnails(cached: sample)
        let listener = try listener(thumbnails)
        #expect(await listener.respond(Self.url + "&tag=a").status == .ok)
        #expect(thumbnails.taggers == [ClientNetwork(of: nil)])
        let key = Array("0123456789abcdef".utf8)
        let signed = StubThumbnails(cached: sample)
        let target = URLSigner.sign(target: Self.url + "&tag=a", key: key)
        #expect(await (try self.listener(signed) { $0.signingKeys = [key] }).respond(target).status == .ok)
        #expect(signed.taggers == [nil])
    }
}
