import Coordination
import DiskCaching
import HTTPTypes
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Work that overloaded workers still accept, and work that is rejected.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineOverloadTests {
    @Test func `a miss is rejected before any work, a hit is served`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        let (hold, waiting) = try await fixture.overload()
        let loads = fixture.origin.loads
        let miss = Request.path("/b")
        let rejection = fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(miss), receipt: "r"))
        #expect(rejection?.status == .serviceUnavailable)
        #expect(rejection?.code == "overloaded")
        #expect(rejection?.retryAfter == 2)
        #expect(fixture.metric("alula_overload_refusals_total") == 1)
        // A request that is already past admission is rejected too, before its source is fetched.
        await #expect(throws: WorkerPool.Full.self) { try await fixture.thumbnail("/b") }
        await #expect(throws: WorkerPool.Full.self) { try await fixture.thumbnail("/b", cacheControl: "no-store") }
        #expect(fixture.origin.loads == loads)
        #expect(fixture.pipeline.cachedThumbnail(for: .path()) != nil)
        hold.release()
        for task in waiting { _ = try await task.value }
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(miss), receipt: "r")) == nil)
    }

    @Test func `a request that needs no worker of its own is not rejected`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        let (hold, waiting) = try await fixture.overload()
        // One result is cached, and another one is being rendered for other requests.
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.path()), receipt: "r")) == nil)
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.path(width: 31)), receipt: "r")) == nil)
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.path(width: 9)), receipt: "r")) != nil)
        hold.release()
        for task in waiting { _ = try await task.value }
    }

    @Test func `another size of a decoded image is rejected if it would wait`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail(width: 20)
        let (hold, waiting) = try await fixture.overload()
        await #expect(throws: WorkerPool.Full.self) { try await fixture.thumbnail(width: 19) }
        hold.release()
        for task in waiting { _ = try await task.value }
    }

    @Test func `a call's results are not rejected once its source is fetched`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.jpeg, at: "/c")
        let image = try await fixture.pipeline.open(
            for: Job(fixture.pipeline.resolved(.path("/c")), receipt: "r"))
        let (hold, waiting) = try await fixture.overload()
        let parts = (40..<52).map { width in
            Task.immediate {
                try await fixture.pipeline.thumbnail(of: image, for: .path(width: width))
            }
        }
        // Another call is rejected before its source is fetched or its upload is hashed.
        let loads = fixture.origin.loads
        await #expect(throws: WorkerPool.Full.self) {
            try await fixture.pipeline.open(
                for: Job(fixture.pipeline.resolved(.path("/b")), receipt: "r"))
        }
        await #expect(throws: WorkerPool.Full.self) { try await fixture.pipeline.open(upload: SampleFiles.jpeg) }
        // A call with an opened source may find all results in the cache, so only its first work is checked.
        let stored = try await fixture.pipeline.open(
            for: Job(fixture.pipeline.resolved(.path()), receipt: "r"))
        await #expect(throws: WorkerPool.Full.self) {
            try await fixture.pipeline.thumbnail(of: stored, for: .path(width: 60))
        }
        #expect(fixture.origin.loads == loads)
        hold.release()
        for task in waiting { _ = try await task.value }
        for (part, width) in zip(parts, 40..<52) { #expect(try await part.value.image.size.width == width) }
    }

    @Test func `an upload is rejected if the queue of its tenant is too long`() async throws {
        let fixture = try PipelineFixture()
        let shop = RequestBill(to: TenantAccount("shop", number: 3, timekeeper: ManualTimekeeper()))
        let limiter = fixture.lanes.smallLimiter
        let releases = (0..<64).map { _ in Promise<Bool>() }
        let work = releases.map { release in
            Task.immediate { try await limiter.run(of: .tenant(3), cost: .seconds(60)) { await release.value() } }
        }
        let client = ClientNetwork(bits: 1)
        await #expect(throws: WorkerPool.Full.self) {
            try await fixture.pipeline.open(upload: SampleFiles.jpeg, of: client, bill: shop)
        }
        _ = try await fixture.pipeline.open(upload: SampleFiles.jpeg, of: client)
        for release in releases { release.fulfill(true) }
        for task in work { _ = try await task.value }
    }

    @Test func `facts that need pixels are rejected before the source is fetched`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        let (hold, waiting) = try await fixture.overload()
        let loads = fixture.origin.loads
        var asked = FactsRequest()
        asked.features = [.color]
        let request = fixture.pipeline.resolved(.path("/b"))
        await #expect(throws: WorkerPool.Full.self) {
            try await fixture.pipeline.facts(asked, for: Job(request, receipt: "r"))
        }
        #expect(fixture.origin.loads == loads)
        hold.release()
        for task in waiting { _ = try await task.value }
    }

    @Test func `a fetched source is decoded anyway if there is time`() async throws {
        let fixture = try PipelineFixture()
        let gate = fixture.origin.hold()
        let early = fixture.start(receipt: "early")
        try fixture.requireDownload(callers: 1)
        let (hold, waiting) = try await fixture.overload(loading: false)
        gate.open()
        try await fixture.workersWaitedFor(waiting.count + 1)
        hold.release()
        #expect(try await early.value.image.size.width == 20)
        for task in waiting { _ = try await task.value }
    }

    @Test func `a fetched source is rejected at once if it would wait past its deadline`() async throws {
        let fixture = try PipelineFixture { $0.requestTimeout = .seconds(2) }
        let gate = fixture.origin.hold()
        let early = fixture.start(receipt: "early")
        try fixture.requireDownload(callers: 1)
        let (hold, waiting) = try await fixture.overload(loading: false)
        fixture.time.clock.advance(by: .milliseconds(500))
        gate.open()
        await #expect(throws: WorkerPool.Full.self) { try await early.value }
        hold.release()
        for task in waiting { _ = try await task.value }
    }

    @Test func `with a disk, a result is looked up there before a miss is rejected`() async throws {
        let folder = TemporaryFolder()
        let first = try PipelineFixture(diskFolder: folder.path)
        _ = try await first.thumbnail()
        await first.store?.shutDown(timeLimit: .seconds(40))
        let second = try PipelineFixture(diskFolder: folder.path)
        let (hold, waiting) = try await second.overload(loading: false)
        #expect(second.pipeline.rejection(for: Job(second.pipeline.resolved(.path()), receipt: "r")) == nil)
        #expect(try await second.thumbnail().statusTexts.first?.hasPrefix("alula-result hit") == true)
        await #expect(throws: WorkerPool.Full.self) { try await second.thumbnail(width: 21) }
        #expect(second.origin.loads == 0)
        hold.release()
        for task in waiting { _ = try await task.value }
        await second.store?.shutDown(timeLimit: .seconds(40))
    }
}

extension PipelineFixture {
    /// Blocks the workers and queues two seconds of work.
    ///
    /// With `loading`, two of the jobs are renders of the image at `/a`, 30 and 31 pixels wide.
    fileprivate func overload(
        loading: Bool = true
    ) async throws -> (hold: WorkerHold, waiting: [Task<Void, any Error>]) {
        // These are the pool's only measurements, because the fixture's clock stood still during other work.
        for priority in WorkerPool.Priority.allCases {
            try await workers.run(priority: priority) { [time] _ in time.clock.advance(by: .milliseconds(50)) }
        }
        let hold = await holdWorkers()
        var waiting: [Task<Void, any Error>] = []
        if loading {
            for width in [30, 31] {
                waiting.append(Task { _ = try await self.thumbnail(width: width, receipt: "\(width)") })
            }
            try await workersWaitedFor(2)
        }
        while workers.backlog.delay < .seconds(2) {
            waiting.append(Task { try await self.workers.run(priority: .finishing) { _ in } })
            try await workersWaitedFor(waiting.count)
        }
        return (hold, waiting)
    }
}
