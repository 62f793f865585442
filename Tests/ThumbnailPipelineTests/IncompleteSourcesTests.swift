import DiskCaching
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Images with missing pixels, if the settings allow serving them.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct IncompleteSourcesTests {
    private static let whole = ImageFixture.photo(width: 160, height: 120)
    private static let cut = SharedBytes(whole.array.prefix(whole.count * 3 / 4))

    private func fixture(folder: String? = nil) throws -> PipelineFixture {
        let fixture = try PipelineFixture(diskFolder: folder) { $0.rules.limits.incompleteImages = .serve }
        fixture.origin.serve(Self.cut, cacheControl: "max-age=86400", eTag: "\"1\"")
        return fixture
    }

    @Test func `incomplete images are rejected unless the settings allow them`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(Self.cut)
        let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail() }
        #expect(error?.code == "cannot_decode")
    }

    @Test func `every response is marked and fresh for a minute at most, from any layer`() async throws {
        let fixture = try fixture()
        let first = try await fixture.thumbnail()
        let hit = try await fixture.thumbnail()
        let fromPixels = try await fixture.thumbnail(width: 19)
        let unstored = try await fixture.thumbnail(cacheControl: "no-store")
        for answer in [first, hit, fromPixels, unstored] {
            #expect(answer.isIncomplete && answer.freshness == Freshness(lifetime: 60))
        }
        #expect(hit.statusTexts == ["alula-result hit"] && fromPixels.statusTexts.last == "alula-decoded hit")
        #expect(hit.eTag == first.eTag && unstored.eTag == first.eTag)
    }

    @Test(arguments: [false, true])
    func `a wrong checksum of complete rows is a log line at debug`(isWrong: Bool) async throws {
        var writer = PNGWriter(width: 40, height: 30, colorType: .rgb)
        writer.rowsChunk = 500
        var file = writer.file { x, y in [5 * x, 7 * y, 90] }
        // The checksum of the first `IDAT` chunk.
        if isWrong { file[33 + 508] ^= 1 }
        let sink = RecordingSink()
        let fixture = try PipelineFixture(logger: Logger(level: .debug, sink: sink))
        fixture.origin.serve(SharedBytes(file))
        #expect(try await !fixture.thumbnail().isIncomplete)
        let lines = sink.lines
        #expect(lines.map(\.message) == (isWrong ? ["damaged file decoded completely"] : []))
        #expect(lines.allSatisfy { $0.level == .debug && $0["format"] == .string("png") && $0["source"] != nil })
    }

    @Test(arguments: [("max-age=30", 30), ("private, max-age=9000", 60), ("max-age=0", 0)])
    func `a shorter lifetime of the source applies, and no bound extends it`(
        control: String, lifetime: Int
    ) async throws {
        let fixture = try PipelineFixture {
            $0.rules.limits.incompleteImages = .serve
            $0.clientMaxAge.maximum = 100_000
        }
        fixture.origin.serve(Self.cut, cacheControl: control)
        #expect(try await fixture.thumbnail().freshness.lifetime == lifetime)
        let fixed = try PipelineFixture {
            $0.rules.limits.incompleteImages = .serve
            $0.clientMaxAge.fixed = 100_000
        }
        fixed.origin.serve(Self.cut)
        #expect(try await fixed.thumbnail().freshness.lifetime == 60)
    }

    @Test func `after a minute the source is fetched again, not revalidated`() async throws {
        let fixture = try fixture()
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .milliseconds(59_999))
        _ = try await fixture.thumbnail(width: 19)
        #expect(fixture.origin.loads == 1)
        // The complete file is served with the same entity tag.
        fixture.origin.serve(Self.whole, cacheControl: "max-age=86400", eTag: "\"1\"")
        fixture.time.clock.advance(by: .milliseconds(1))
        let request = fixture.pipeline.resolved(.path())
        #expect(fixture.pipeline.cachedThumbnail(for: request) == nil)
        let answer = try await fixture.thumbnail()
        #expect(!answer.isIncomplete && answer.freshness.lifetime == 86_400)
        #expect(fixture.origin.loads == 2 && fixture.origin.confirmations == 0)
        #expect(try await !fixture.thumbnail(width: 19).isIncomplete)
    }

    @Test func `a confirmation does not extend its minute`() async throws {
        let fixture = try fixture()
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(30))
        let confirmed = try await fixture.thumbnail(cacheControl: "no-cache")
        #expect(fixture.origin.confirmations == 1)
        #expect(confirmed.isIncomplete && confirmed.freshness.lifetime == 60)
        fixture.origin.serve(Self.whole, cacheControl: "max-age=86400", eTag: "\"1\"")
        fixture.time.clock.advance(by: .seconds(30))
        #expect(try await !fixture.thumbnail().isIncomplete)
        #expect(fixture.origin.confirmations == 1)
    }

    @Test func `an incomplete image is never stored on disk`() async throws {
        let folder = TemporaryFolder()
        let fixture = try fixture(folder: folder.path)
        _ = try await fixture.thumbnail()
        let store = try #require(fixture.store)
        await store.shutDown(timeLimit: .seconds(10))
        let entries = store.statistics.partitions.values.reduce(0) { $0 + $1.entries }
        #expect(entries == 0)
    }
}
