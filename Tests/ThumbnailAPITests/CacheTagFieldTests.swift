import HTTPTypes
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// Tags in responses, for caches in front.
struct CacheTagFieldTests {
    private static let target = "/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300"

    /// The value of the field in a response.
    private func tags(_ name: String?, _ query: String, cached: Bool = false) async throws -> String? {
        let sample = Thumbnail.sample(freshness: Freshness(lifetime: 60, age: 1), slot: ResponseSlot())
        let listener = PublicListenerFixture(cached ? StubThumbnails(cached: sample) : StubThumbnails()) {
            $0.cacheTagField = name.flatMap { CacheTagField($0) }
            $0.accessLog = .off
        }
        let response = await listener.respond(Self.target + query)
        #expect(response.status == .ok)
        return name.flatMap { HTTPField.Name($0) }.flatMap { response[$0] }
    }

    @Test(arguments: [false, true])
    func `a response lists the tags of its request and its sources, in the field's format`(cached: Bool) async throws {
        let source = CacheTag.ofSource(named: "https://example.com/a.jpg")
        #expect(source == "s-276a1ac00ba4f0ea")
        #expect(try await tags("Cache-Tag", "&tag=b,a", cached: cached) == "b,a,\(source)")
        #expect(try await tags("Surrogate-Key", "&tag=b,a", cached: cached) == "b a \(source)")
        #expect(try await tags("XKEY", "", cached: cached) == source)
    }

    @Test func `requests that differ only in tags share a result, and each has its own tags`() async throws {
        let sample = Thumbnail.sample(freshness: Freshness(lifetime: 60, age: 1), slot: ResponseSlot())
        let listener = PublicListenerFixture(StubThumbnails(cached: sample)) {
            $0.cacheTagField = CacheTagField("Cache-Tag")
        }
        let name = try #require(HTTPField.Name("Cache-Tag"))
        for tag in ["x", "y", "x"] {
            let value = await listener.respond(Self.target + "&tag=" + tag)[name]
            #expect(value?.hasPrefix(tag + ",s-") == true)
        }
        #expect(await listener.respond(Self.target)[name]?.hasPrefix("s-") == true)
    }

    @Test func `without the setting no field is sent, and a field of another meaning is rejected`() async throws {
        let listener = PublicListenerFixture { _ in }
        let response = await listener.respond(Self.target + "&tag=a")
        #expect(!response.headerFields.contains { $0.value.contains("s-276a1ac00ba4f0ea") })
        for name in ["", "a b", "ETag", "content-type", "Cache-Control", "Alula-Error", "Set\r\nCookie"] {
            #expect(CacheTagField(name) == nil, "\(name)")
        }
    }
}
