import Coordination
import DiskCaching
import Downloading
import HTTPTypes
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// URLs that Swift's `String` considers equal are different sources in every cache layer.
@Suite(.timeLimit(.minutes(1)))
struct LookAlikeSourcesTests {
    /// Two spellings of a path, as requested and as sent to the origin.
    struct Pair: CustomTestStringConvertible, Sendable {
        let first: (written: String, fetched: String)
        let second: (written: String, fetched: String)
        var testDescription: String { "\(first.fetched) \(second.fetched)" }
    }

    static let pairs = [
        Pair(first: ("/\u{212a}itten", "/%e2%84%aaitten"), second: ("/Kitten", "/Kitten")),
        Pair(first: ("/a\u{37e}b", "/a%cd%beb"), second: ("/a;b", "/a;b")),
        Pair(first: ("/\u{e9}", "/%c3%a9"), second: ("/e\u{301}", "/e%cc%81")),
        Pair(first: ("/a\u{323}\u{307}", "/a%cc%a3%cc%87"), second: ("/a\u{307}\u{323}", "/a%cc%87%cc%a3")),
    ]

    @Test(arguments: pairs)
    func `URLs that look alike are fetched, decoded and served separately`(pair: Pair) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, at: pair.first.fetched, cacheControl: "max-age=100")
        fixture.origin.serve(SampleFiles.other, at: pair.second.fetched, cacheControl: "max-age=100")
        let first = try await fixture.thumbnail(pair.first.written)
        #expect(fixture.pipeline.cachedThumbnail(for: .path(pair.second.written)) == nil)
        let second = try await fixture.thumbnail(pair.second.written)
        #expect(first.eTag != second.eTag && fixture.origin.loads == 2)
        // From the result cache, from pixels, from the source.
        #expect(fixture.pipeline.cachedThumbnail(for: .path(pair.first.written))?.eTag == first.eTag)
        #expect(fixture.pipeline.cachedThumbnail(for: .path(pair.second.written))?.eTag == second.eTag)
        let (small, otherSmall) = try await (
            fixture.thumbnail(pair.first.written, width: 19), fixture.thumbnail(pair.second.written, width: 19)
        )
        #expect(small.eTag != otherSmall.eTag)
        _ = fixture.caches.evict(.empty)
        #expect(try await fixture.thumbnail(pair.second.written, width: 19).eTag == otherSmall.eTag)
        #expect(fixture.origin.loads == 2)
    }

    @Test(arguments: pairs)
    func `a failure of one does not affect the other`(pair: Pair) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.truncated, at: pair.first.fetched, cacheControl: "max-age=100")
        fixture.origin.serve(SampleFiles.jpeg, at: pair.second.fetched, cacheControl: "max-age=100")
        await #expect(throws: (any Error).self) { try await fixture.thumbnail(pair.first.written) }
        #expect(try await fixture.thumbnail(pair.second.written).image.size.width == 20)
        let others = try PipelineFixture()
        others.origin.serve(SampleFiles.jpeg, at: pair.second.fetched, cacheControl: "max-age=100")
        await #expect(throws: DownloadError.notFound(404)) { try await others.thumbnail(pair.first.written) }
        #expect(try await others.thumbnail(pair.second.written).image.size.width == 20)
    }

    @Test(arguments: pairs)
    func `a removal of one leaves the other`(pair: Pair) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, at: pair.first.fetched, cacheControl: "max-age=100")
        fixture.origin.serve(SampleFiles.other, at: pair.second.fetched, cacheControl: "max-age=100")
        _ = try await (fixture.thumbnail(pair.first.written), fixture.thumbnail(pair.second.written))
        let removed = try await fixture.control.remove(source: "http://example.com\(pair.first.written)")
        #expect(removed.entries > 0)
        #expect(fixture.pipeline.cachedThumbnail(for: .path(pair.first.written)) == nil)
        #expect(fixture.pipeline.cachedThumbnail(for: .path(pair.second.written)) != nil)
    }

    @Test(arguments: pairs)
    func `each of two similar URLs has its own entry on disk`(pair: Pair) async throws {
        let folder = TemporaryFolder()
        var eTags: [String] = []
        for isSecondLife in [false, true] {
            let fixture = try PipelineFixture(diskFolder: folder.path)
            if !isSecondLife {
                fixture.origin.serve(SampleFiles.jpeg, at: pair.first.fetched, cacheControl: "max-age=100")
                fixture.origin.serve(SampleFiles.other, at: pair.second.fetched, cacheControl: "max-age=100")
            }
            for path in [pair.first.written, pair.second.written] {
                eTags.append(try await fixture.thumbnail(path).eTag)
            }
            #expect(fixture.origin.loads == (isSecondLife ? 0 : 2))
            await fixture.store?.shutDown(timeLimit: .queueTimeout)
        }
        #expect(eTags[0] == eTags[2] && eTags[1] == eTags[3] && eTags[0] != eTags[1])
    }
}
