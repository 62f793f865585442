import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Repeated requests for undecodable files.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FailedDecodesTests {
    private func fails(_ fixture: PipelineFixture, width: Int = 20, cacheControl: String? = nil) async {
        await #expect(throws: ImagingError.self) {
            try await fixture.thumbnail(width: width, cacheControl: cacheControl)
        }
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .text])
    func `a broken image is not downloaded again for each request, for a while`(file: ImageFixture) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(file.bytes)
        for _ in 0..<3 { await fails(fixture) }
        #expect(fixture.origin.loads == 1)
        fixture.time.clock.advance(by: .milliseconds(4_999))
        await fails(fixture)
        #expect(fixture.origin.loads == 1)
        fixture.time.clock.advance(by: .milliseconds(1))
        await fails(fixture)
        #expect(fixture.origin.loads == 2)
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .text])
    func `no-cache bypasses a remembered failure, and its result counts for all`(file: ImageFixture) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(file.bytes)
        await fails(fixture)
        await fails(fixture, cacheControl: "no-cache")
        #expect(fixture.origin.loads == 2)
        fixture.origin.serve(SampleFiles.jpeg)
        _ = try await fixture.thumbnail(cacheControl: "no-cache")
        _ = try await fixture.thumbnail(width: 11)
        #expect(fixture.origin.loads == 3)
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .text], [true, false])
    func `an operator's removal forgets a failure, also during the download`(
        file: ImageFixture, isWhole: Bool
    ) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(file.bytes)
        func remove() async throws {
            if isWhole {
                _ = try await fixture.control.removeAll()
            } else {
                _ = try await fixture.control.remove(source: "http://example.com/a")
            }
        }
        await fails(fixture)
        try await remove()
        let gate = fixture.origin.hold()
        let task = fixture.start()
        try fixture.requireDownload(callers: 1)
        try await remove()
        gate.open()
        await #expect(throws: ImagingError.self) { try await task.value }
        fixture.origin.serve(SampleFiles.jpeg)
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 3)
    }

    @Test(arguments: ["no-store", "private", "no-cache", "max-age=0"])
    func `a failure is remembered no longer than the source's freshness`(control: String) async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.truncated, cacheControl: control)
        for _ in 0..<2 { await fails(fixture) }
        #expect(fixture.origin.loads == 2)
    }

    @Test func `a failure of a no-store request is not remembered for others`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.text)
        await fails(fixture, cacheControl: "no-store")
        fixture.origin.serve(SampleFiles.jpeg)
        _ = try await fixture.thumbnail()
        #expect(fixture.origin.loads == 2)
    }

    @Test func `local limits are not remembered, the source is`() async throws {
        let fixture = try PipelineFixture { $0.rules.limits.maximumSourcePixels = 100 }
        for _ in 0..<2 {
            let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail() }
            #expect(error?.code == "too_many_pixels")
        }
        #expect(fixture.origin.loads == 1)
        let identity = try fixture.downloader.identity(of: "http://example.com/a")
        #expect(fixture.pipeline.failedDecodes.failure(of: identity, stored: nil, plan: { _ in DecodePlan() }) == nil)
    }

    @Test func `a broken late frame is rejected, and does not affect the source`() async throws {
        let fixture = try PipelineFixture { $0.rules.limits.maximumSourcePixels = 2 * ImageFixture.size.area }
        // The third frame is truncated.
        fixture.origin.serve(SharedBytes(ImageFixture.gifAnimated.array.dropLast(12)), cacheControl: "max-age=3600")
        let first = try await fixture.thumbnail()
        var request = Request.path()
        request.options.page = 2
        for _ in 0..<2 {
            let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail(of: request) }
            #expect(error?.code == "cannot_decode")
        }
        request.options.page = 3
        await #expect(throws: ImagingError.noSuchPage(3, pages: 3)) { try await fixture.thumbnail(of: request) }
        (request.options.page, request.options.isAnimated) = (0, true)
        await #expect(throws: ImagingError.self) { try await fixture.thumbnail(of: request) }
        let again = try await fixture.thumbnail()
        #expect(again.eTag == first.eTag && again.statusTexts == ["alula-result hit"])
        request = Request.path(width: 21)
        #expect(try await fixture.thumbnail(of: request).statusTexts.last == "alula-decoded hit")
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a failure applies to the failed decode, and to that version`() throws {
        let time = ManualTimekeeper()
        let failedDecodes = FailedDecodes(timeLimit: .seconds(5), timekeeper: time)
        func record(_ version: String) throws -> SourceRecord {
            let now = HTTPDate(secondsSince1970: time.secondsSince1970)
            return try SourceRecord(
                SourceHead(
                    identity: SourceIdentity(url: try SourceURL(parsing: "http://example.com/a")),
                    validator: .entityTag(version), headerFields: [:], requestedAt: now, receivedAt: now),
                bytes: SampleFiles.jpeg)
        }
        let (old, new) = (try record("1"), try record("2"))
        func failure(_ page: Int, _ stored: SourceRecord?) -> ImagingError? {
            failedDecodes.failure(of: old.identity, stored: stored, plan: { _ in DecodePlan(page: page) })
        }
        let error = ImagingError.cannotDecode(detail: "cut")
        for page in [3, 4] {
            failedDecodes.remember(error, of: DecodePlan(page: page), in: old, since: failedDecodes.checkpoint)
        }
        #expect(failure(3, nil) == error && failure(4, old) == error)
        #expect(failure(0, nil) == nil && failure(3, new) == nil)
        failedDecodes.forget(DecodePlan(page: 3), of: old.identity)
        #expect(failure(3, nil) == nil && failure(4, nil) == error)
        time.advance(by: .seconds(5))
        #expect(failure(4, nil) == nil)
    }
}
