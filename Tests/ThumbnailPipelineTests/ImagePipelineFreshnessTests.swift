import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// The effect of the origin's `Cache-Control`, and of changes to it, on pixels and results.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineFreshnessTests {
    @Test(arguments: [("private", Freshness.Storability.private), ("no-store", .none)])
    func `private and no-store are served, not stored`(
        control: String, storability: Freshness.Storability
    ) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: control)
        for load in 1...2 {
            let thumbnail = try await fixture.thumbnail()
            #expect(thumbnail.freshness.storability == storability)
            #expect(
                thumbnail.statusTexts == [
                    "alula-result fwd=uri-miss", "alula-decoded fwd=uri-miss", "alula-source fwd=uri-miss",
                ])
            #expect(fixture.origin.loads == load)
            #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
            #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        }
    }

    @Test func `an origin that turns private removes earlier entries`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10")
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(10))
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "private")
        _ = try await fixture.thumbnail()
        #expect(fixture.caches.statistics.allSatisfy { $0.statistics.usage.entries == 0 })
    }

    @Test func `no-cache is revalidated each time, and results of the same bytes are reused`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-cache")
        let first = try await fixture.thumbnail()
        #expect(first.statusTexts.last == "alula-source fwd=uri-miss stored")
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        let second = try await fixture.thumbnail()
        #expect(second.statusTexts == ["alula-result hit", "alula-source fwd=stale stored"])
        #expect(second.freshness.lifetime == 0)
        #expect(second.freshness.age == nil)
        #expect(second.eTag == first.eTag)
        #expect(fixture.origin.loads == 2)
        #expect(fixture.decodes == 1)
    }

    @Test func `concurrent no-cache requests are one transfer`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-cache")
        let gate = fixture.origin.hold()
        let callers = (1...3).map { fixture.start(width: 10 * $0, receipt: "\($0)") }
        try fixture.requireDownload(callers: 3)
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a stale source without a tag is fetched again, and its pixels stay if the bytes are the same`()
        async throws
    {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10")
        _ = try await fixture.thumbnail(width: 20)
        fixture.time.clock.advance(by: .seconds(10))
        let thumbnail = try await fixture.thumbnail(width: 30)
        #expect(
            thumbnail.statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-decoded hit", "alula-source fwd=stale stored",
            ])
        #expect(fixture.origin.loads == 2)
        #expect(fixture.origin.confirmations == 0)
        #expect(fixture.decodes == 1)
    }

    @Test func `changed bytes are served, and all results of the old ones are removed`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10", eTag: "\"1\"")
        let old = try await fixture.thumbnail(width: 20)
        _ = try await fixture.thumbnail(width: 4)
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [2, 2, 1])
        fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=10", eTag: "\"2\"")
        #expect(try await fixture.thumbnail(width: 20).eTag == old.eTag)
        fixture.time.clock.advance(by: .seconds(10))
        let new = try await fixture.thumbnail(width: 20)
        #expect(new.eTag != old.eTag)
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
    }

    @Test func `a decode of bytes that have since changed is served but not stored`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-cache", eTag: "\"1\"")
        let hold = await fixture.holdWorkers()
        let old = fixture.start(receipt: "1")
        try await fixture.workersWaitedFor(1)
        fixture.origin.serve(SampleFiles.other, cacheControl: "no-cache", eTag: "\"2\"")
        let new = fixture.start(receipt: "2")
        try await fixture.workersWaitedFor(2)
        hold.release()
        let thumbnails = [try await old.value, try await new.value]
        #expect(thumbnails[0].eTag != thumbnails[1].eTag)
        #expect(thumbnails[0].statusTexts.prefix(2) == ["alula-result fwd=uri-miss", "alula-decoded fwd=uri-miss"])
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
    }

    @Test func `Last-Modified and the age on arrival are passed on`() async throws {
        let fixture = try PipelineFixture()
        var answer = ScriptedOrigin.Answer(bytes: SampleFiles.jpeg)
        answer.fields[.lastModified] = "Sun, 06 Nov 1994 08:49:37 GMT"
        answer.fields[.age] = "9223372036854775807"
        fixture.origin.serve(answer, at: "/a")
        let first = try await fixture.thumbnail()
        #expect(first.lastModified == HTTPDate(secondsSince1970: 784_111_777))
        #expect(first.freshness.age == 1 << 31)
        answer.fields[.age] = "70"
        answer.fields[.cacheControl] = "max-age=100"
        fixture.origin.serve(answer, at: "/a")
        _ = try await fixture.thumbnail()
        fixture.time.clock.advance(by: .seconds(5))
        let third = try await fixture.thumbnail()
        #expect(third.lastModified == first.lastModified)
        #expect(third.freshness.age == 75)
    }

    @Test(arguments: [
        (ImageFixture.jpegTruncated, "cannot_decode", 422), (.text, "not_an_image", 415), (.avif, "not_an_image", 415),
        (.jpegHeadOnly, "cannot_decode", 422), (.pngGiant, "too_many_pixels", 422),
    ])
    func `an undecodable source is an error each time`(file: ImageFixture, code: String, status: Int) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(file.bytes)
        for _ in 1...2 {
            let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail() }
            #expect(error?.code == code)
            #expect(error?.status.code == status)
            #expect(fixture.pipeline.cachedThumbnail(for: .path()) == nil)
        }
        #expect(fixture.caches.memory.results.statistics.usage.entries == 0)
        #expect(fixture.caches.memory.decoded.statistics.usage.entries == 0)
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .text])
    func `a broken source is never cached, and is fetched again after its failure expires`(
        file: ImageFixture
    ) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(file.bytes)
        await #expect(throws: ImagingError.self) { try await fixture.thumbnail() }
        #expect(await fixture.caches.purgeLocal(.everything) == RemovedEntries())
        fixture.origin.serve(SampleFiles.jpeg)
        fixture.time.clock.advance(by: .seconds(5))
        #expect(try await fixture.thumbnail().image.size.width == 20)
        #expect(fixture.origin.loads == 2)
    }

    @Test func `the failure of old bytes does not remove the new ones`() async throws {
        let fixture = try PipelineFixture(workerCount: 1)
        fixture.origin.serve(SampleFiles.truncated, cacheControl: "max-age=10", eTag: "\"1\"")
        let hold = await fixture.holdWorkers()
        let old = fixture.start(receipt: "1")
        try await fixture.workersWaitedFor(1)
        fixture.time.clock.advance(by: .seconds(10))
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10", eTag: "\"2\"")
        let new = fixture.start(receipt: "2")
        try await fixture.workersWaitedFor(2)
        hold.release()
        await #expect(throws: ImagingError.self) { try await old.value }
        _ = try await new.value
        #expect(fixture.caches.statistics.map(\.statistics.usage.entries) == [1, 1, 1])
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) != nil)
    }
}
