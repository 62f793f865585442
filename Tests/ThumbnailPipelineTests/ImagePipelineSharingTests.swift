import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Requests that share work, through the whole pipeline (conformance 14, 15, 22 to 24 and 26).
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineSharingTests {
    @Test func `two hundred simultaneous requests make one transfer, one decode and one render`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let callers = (0..<200).map { fixture.start(receipt: "\($0)") }
        try fixture.requireDownload(callers: 200)
        gate.open()
        var thumbnails: [Thumbnail] = []
        for caller in callers { thumbnails.append(try await caller.value) }

        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 1)
        #expect(fixture.renders == 1)
        #expect(fixture.metric("alula_downloads_collapsed_total") == 199)
        #expect(Set(thumbnails.map { $0.image.bytes.array }).count == 1)
        let sources = thumbnails.compactMap { $0.cacheStatus.last }
        #expect(sources.filter { $0 == CacheLayerStatus(.source, outcome: .uriMiss, isStored: true) }.count == 1)
        #expect(sources.filter { $0 == CacheLayerStatus(.source, outcome: .uriMiss, isCollapsed: true) }.count == 199)
        #expect(thumbnails.filter { $0.statusTexts[0] == "alula-result fwd=uri-miss stored" }.count == 1)
    }

    @Test func `two sizes at once make one transfer, two right sizes and, at one level, one decode`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let small = fixture.start(width: 20, receipt: "1")
        let large = fixture.start(width: 30, receipt: "2")
        try fixture.requireDownload(callers: 2)
        gate.open()
        #expect(try await small.value.image.size == PixelSize(width: 20, height: 15))
        #expect(try await large.value.image.size == PixelSize(width: 30, height: 23))
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 1)
        #expect(fixture.renders == 2)
    }

    @Test func `two sizes of different levels make one transfer and two decodes`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let small = fixture.start(width: 4, receipt: "1")
        let large = fixture.start(width: 30, receipt: "2")
        try fixture.requireDownload(callers: 2)
        gate.open()
        #expect(try await small.value.image.size == PixelSize(width: 4, height: 3))
        #expect(try await large.value.image.size == PixelSize(width: 30, height: 23))
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 2)
    }

    @Test func `the same size twice makes one render, which the second joins`() async throws {
        let fixture = try PipelineFixture()
        let hold = await fixture.holdWorkers()
        let first = fixture.start(receipt: "1")
        try await fixture.workersWaitedFor(1)
        let second = fixture.start(receipt: "2")
        try #require(fixture.renderWaiters() == 2)
        hold.release()
        let thumbnails = [try await first.value, try await second.value]
        #expect(
            thumbnails[0].statusTexts == [
                "alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss stored",
                "alula-source fwd=uri-miss stored",
            ])
        #expect(thumbnails[1].statusTexts == ["alula-result fwd=uri-miss collapsed"])
        #expect(thumbnails[0].eTag == thumbnails[1].eTag)
        #expect(fixture.decodes == 1)
        #expect(fixture.renders == 1)
    }

    @Test func `a second size joins the decode of the first`() async throws {
        let fixture = try PipelineFixture()
        let hold = await fixture.holdWorkers()
        let first = fixture.start(width: 20, receipt: "1")
        try await fixture.workersWaitedFor(1)
        let second = fixture.start(width: 30, receipt: "2")
        try #require(await eventually { fixture.decodeWaiters() == 2 })
        hold.release()
        _ = try await first.value
        let thumbnail = try await second.value
        #expect(
            thumbnail.statusTexts == ["alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss collapsed"])
        #expect(thumbnail.image.size == PixelSize(width: 30, height: 23))
        #expect(fixture.decodes == 1)
    }

    @Test func `the first caller leaves its download, and the others get theirs in the same transfer`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let first = fixture.start(receipt: "1")
        try fixture.requireDownload(callers: 1)
        let others = (2...5).map { fixture.start(width: 10 * $0, receipt: "\($0)") }
        try fixture.requireDownload(callers: 5)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try fixture.requireDownload(callers: 4)
        gate.open()
        for (index, other) in others.enumerated() {
            #expect(try await other.value.image.size.width == 20 + 10 * index)
        }
        #expect(fixture.origin.loads == 1)
        #expect(fixture.origin.cancellations == 0)
    }

    @Test func `the first caller leaves its decode, and the others succeed without a second one`() async throws {
        let fixture = try PipelineFixture()
        let hold = await fixture.holdWorkers()
        let first = fixture.start(receipt: "1")
        try await fixture.workersWaitedFor(1)
        let same = fixture.start(receipt: "2")
        let larger = fixture.start(width: 30, receipt: "3")
        try #require(fixture.renderWaiters() == 2)
        try #require(await eventually { fixture.decodeWaiters() == 2 })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        hold.release()
        #expect(try await same.value.image.size.width == 20)
        #expect(try await larger.value.image.size.width == 30)
        #expect(fixture.origin.loads == 1)
        #expect(fixture.decodes == 1)
        #expect(fixture.renders == 2)
    }

    @Test func `the download ends and nothing is stored when the last caller leaves`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let caller = fixture.start()
        try fixture.requireDownload(callers: 1)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
        await fixture.origin.cancellations(1)
        #expect(await fixture.caches.purgeLocal(.everything) == RemovedEntries())
    }

    @Test func `the decode leaves the queue with its last caller`() async throws {
        let fixture = try PipelineFixture()
        let hold = await fixture.holdWorkers()
        let caller = fixture.start()
        try await fixture.workersWaitedFor(1)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        try await fixture.workersWaitedFor(0)
        #expect(await eventually { fixture.sharedWorkCount == 0 })
        hold.release()
        #expect(try await fixture.thumbnail().image.size.width == 20)
        #expect(fixture.decodes == 1)
    }

    @Test func `a request at the end of a fetch, decode or render makes no second one`() async throws {
        let fixture = try PipelineFixture()
        let count = 1_000
        for index in 0..<count {
            let path = "/\(index)"
            fixture.origin.serve(SampleFiles.tiny, at: path)
            let callers = (1...4).map { caller in
                Task {
                    for _ in 1..<caller { await Task.yield() }
                    return try await fixture.thumbnail(path, width: 4, receipt: "\(caller)").eTag
                }
            }
            for caller in callers { _ = try await caller.value }
        }
        #expect(fixture.origin.loads == count)
        #expect(fixture.metric("alula_decodes_total{format=\"png\"}") == count)
        #expect(fixture.metric("alula_renders_total{format=\"png\"}") == count)
        #expect(fixture.sharedWorkCount == 0)
    }

    @Test func `a canceled receipt answers only its caller with 409`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let first = fixture.start(receipt: "1")
        let second = fixture.start(receipt: "2")
        try fixture.requireDownload(callers: 2)
        #expect(Set(fixture.control.downloads.flatMap(\.receipts)) == ["1", "2"])
        #expect(!fixture.control.cancel(receipt: "3"))
        #expect(fixture.control.cancel(receipt: "1"))
        #expect(!fixture.control.cancel(receipt: "1"))
        let error = await #expect(throws: DownloadError.self) { try await first.value }
        #expect(error == .receiptCanceled)
        #expect(error?.status == .conflict)
        gate.open()
        #expect(try await second.value.image.size.width == 20)
        #expect(!fixture.control.cancel(receipt: "2"))
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a failure is shared by all waiting requests, remembered, and forgotten after a while`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.fail(with: .timedOut)
        let gate = fixture.origin.hold()
        let callers = (1...3).map { fixture.start(width: 10 * $0, receipt: "\($0)") }
        try fixture.requireDownload(callers: 3)
        gate.open()
        for caller in callers {
            let error = await #expect(throws: DownloadError.self) { try await caller.value }
            #expect(error == .timedOut)
        }
        fixture.origin.fail(with: nil)
        let error = await #expect(throws: DownloadError.self) { try await fixture.thumbnail() }
        #expect(error == .timedOut)
        #expect(fixture.origin.loads == 1)
        fixture.time.clock.advance(by: .seconds(5))
        #expect(try await fixture.thumbnail().image.size.width == 20)
        #expect(fixture.origin.loads == 2)
    }
}
