import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Expensive and small work side by side: images of 64×64 are requested with millions of pixels.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineLaneTests {
    private let codec = HeldCodec()

    @Test(arguments: [1, 2])
    func `a thumbnail is served while all slots for expensive work are taken`(workerCount: Int) async throws {
        let fixture = try PipelineFixture(workerCount: workerCount, codec: codec)
        let expensive = try await fixture.startExpensive(3, codec)
        #expect(fixture.workers.runningCount == 0)
        // All expensive turns are taken, but small work has free workers.
        #expect(try await fixture.thumbnail(width: 20).image.size.width == 20)
        #expect(codec.begunCount == 1)
        codec.release()
        for task in expensive { _ = try await task.value }
        #expect(codec.begunCount == 3)
    }

    @Test(arguments: ["max-age=60", "no-store"])
    func `an underestimated decode is repeated in an expensive turn`(cacheControl: String) async throws {
        let codec = WatchedCodec()
        // The second and third failures are as if the request had joined underestimated decodes of others.
        codec.underestimates.withLock { $0 = 3 }
        let fixture = try PipelineFixture(codec: codec)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl)
        #expect(try await fixture.thumbnail(width: 20).image.size.width == 20)
        #expect(codec.smallDecodes.withLock { $0 } == [true, false, false, false])
        // The underestimate is remembered.
        #expect(try await fixture.thumbnail(width: 60).image.size.width == 60)
        #expect(codec.smallDecodes.withLock { $0 }.dropFirst(4).allSatisfy { !$0 })
    }

    @Test func `an underestimate is forgotten after ten minutes`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60")
        _ = try await fixture.thumbnail(width: 20)
        let key = try #require(fixture.key(20)).decodeKey
        let record = try #require(fixture.caches.freshRecord(for: key.source))
        let costs = fixture.pipeline.estimator.costs
        let cost = costs.cost(of: key, from: record)
        costs.recordUnderestimate(of: key.source)
        #expect(!cost.isExpensive && costs.cost(of: key, from: record).isExpensive)
        fixture.time.clock.advance(by: .seconds(600))
        #expect(costs.cost(of: key, from: record) == cost)
    }

    @Test(arguments: ["max-age=60", "no-store"])
    func `requests that join an expensive decode hold no turns`(cacheControl: String) async throws {
        let codec = HeldCodec(holdsDecodes: true)
        let fixture = try PipelineFixture(codec: codec)
        fixture.origin.serve(SampleFiles.expensive, cacheControl: cacheControl)
        fixture.origin.serve(SampleFiles.jpeg, at: "/b")
        let count = 2 * fixture.lanes.smallLimiter.maximumConcurrency
        let hold = fixture.origin.hold()
        let tasks = (0..<count).map { fixture.start(width: 20 + $0) }
        try fixture.requireDownload(callers: count)
        hold.open()
        await codec.begun(1)
        let joined = (0..<count).map { fixture.start(width: 40 + $0) }
        #expect(try await fixture.thumbnail("/b", width: 20).image.size.width == 20)
        codec.release()
        for (index, task) in tasks.enumerated() { #expect(try await task.value.image.size.width == 20 + index) }
        for (index, task) in joined.enumerated() { #expect(try await task.value.image.size.width == 40 + index) }
        // Uncacheable sources may be downloaded, and therefore decoded, again for later requests.
        if cacheControl != "no-store" { #expect(codec.begunCount == 1) }
    }

    @Test func `expensive work that waits for its turn holds no memory`() async throws {
        let fixture = try PipelineFixture(codec: codec)
        let expensive = try await fixture.startExpensive(4, codec)
        let reserved = fixture.budget.statistics.reserved
        let plan = try #require(fixture.expensiveKey(0)).plan
        #expect(reserved == plan.cost)
        codec.release()
        for task in expensive { _ = try await task.value }
    }

    @Test func `expensive misses are rejected by the wait in their own lane, at admission and later`() async throws {
        let fixture = try PipelineFixture(codec: codec)
        let expensive = try await fixture.startExpensive(1, codec)
        let (gate, waiting) = try fixture.occupyTurns(behind: 1)
        let rejection = fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.expensive(8)), receipt: "r"))
        #expect(rejection?.code == "overloaded")
        #expect((rejection?.retryAfter ?? 0) >= 4)
        await #expect(throws: WorkerPool.Full.self) { try await fixture.expensive(8) }
        // Another client's work would be next.
        let other = Job(fixture.pipeline.resolved(.expensive(8)), of: ClientNetwork(bits: 1), receipt: "r")
        #expect(fixture.pipeline.rejection(for: other) == nil)
        // The result is already being rendered for other requests.
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.expensive(0)), receipt: "r")) == nil)
        // Small and unknown work is not affected.
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.path(width: 21)), receipt: "r")) == nil)
        #expect(fixture.pipeline.rejection(for: Job(fixture.pipeline.resolved(.path("/b")), receipt: "r")) == nil)
        #expect(try await fixture.thumbnail(width: 21).image.size.width == 21)
        codec.release()
        gate.open()
        for task in expensive { _ = try await task.value }
        for task in waiting { try await task.value }
    }

    @Test func `a flood of small work does not block expensive work`() async throws {
        let fixture = try PipelineFixture(codec: codec)
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60")
        // The pixels are cached.
        _ = try await fixture.thumbnail(width: nil)
        let hold = await fixture.holdWorkers()
        codec.release()
        #expect(try await fixture.expensive(0).image.format == .avif)
        hold.release()
    }

    @Test func `small work that waits for its turn holds no memory`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60")
        _ = try await fixture.thumbnail(width: nil)
        let hold = await fixture.holdWorkers()
        let plan = RenderPlan(resizedSize: PixelSize(width: 20, height: 15), format: .jpeg, quality: 80)
        let places = fixture.lanes.smallLimiter.maximumConcurrency
        let asked = (0..<places + 9).map { fixture.start(width: 20 + $0) }
        try await fixture.workersWaitedFor(asked.count)
        let reserved = fixture.budget.statistics.reserved
        #expect(reserved >= plan.cost && reserved <= places * plan.cost * 3 / 2)
        hold.release()
        for task in asked { _ = try await task.value }
        #expect(fixture.budget.statistics.reserved == 0)
    }

    @Test func `an expensive decode has its turn as well, and its result is small`() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.serve(SampleFiles.expensive, cacheControl: "max-age=60")
        let (gate, waiting) = try fixture.occupyTurns()
        let first = fixture.start(width: 20)
        try #require(await eventually { fixture.lanes.expensiveLimiter.backlog.count == 2 })
        #expect(fixture.decodes == 0 && fixture.renderWaiters() == 1)
        gate.open()
        _ = try await first.value
        for task in waiting { try await task.value }
        let (again, busy) = try fixture.occupyTurns()
        #expect(try await fixture.thumbnail(width: 19).image.size.width == 19)
        #expect(fixture.decodes == 1)
        again.open()
        for task in busy { try await task.value }
    }

    @Test func `a placeholder is made once for all requests, and cached`() async throws {
        let fixture = try PipelineFixture(codec: codec)
        let color = Color(red: 255, green: 0, blue: 0)
        func ask(_ color: Color = color, width: Int = 300) -> Task<EncodedImage, any Error> {
            let request = Request.path("/gone", width: width, format: .fixed(.avif))
            return Task.immediate { try await fixture.pipeline.placeholder(for: request, color: color) }
        }
        let key = PlaceholderKey(color: color, size: PixelSize(width: 300, height: 300), format: .avif)
        let asked = (0..<5).map { _ in ask() }
        try #require(fixture.pipeline.placeholders.tasks.waiterCount(for: key) == 5)
        codec.release()
        for task in asked { _ = try await task.value }
        #expect(codec.begunCount == 1)
        _ = try await ask().value
        #expect(codec.begunCount == 1)
        _ = try await ask(.white).value
        _ = try await ask(width: 301).value
        #expect(codec.begunCount == 3)
    }

    @Test func `colors that are equal without alpha share one placeholder`() async throws {
        let fixture = try PipelineFixture()
        let request = Request.path("/gone", width: 10, format: .fixed(.jpeg))
        let clear = try await fixture.pipeline.placeholder(for: request, color: .transparent)
        let white = try await fixture.pipeline.placeholder(for: request, color: .white)
        #expect(clear.bytes.array == white.bytes.array)
    }

    @Test func `an expensive placeholder has its turn, and is rejected like a result`() async throws {
        let fixture = try PipelineFixture(codec: codec)
        codec.release()
        let (gate, waiting) = try fixture.occupyTurns()
        func placeholder(_ side: Int, _ format: ImageFormat) async throws -> EncodedImage {
            let request = Request.path("/gone", width: side, format: .fixed(format))
            return try await fixture.pipeline.placeholder(for: request, color: .white)
        }
        await #expect(throws: WorkerPool.Full.self) { try await placeholder(2_000, .avif) }
        #expect(try await placeholder(20, .png).size.width == 20)
        gate.open()
        for task in waiting { try await task.value }
        #expect(try await placeholder(2_000, .avif).size.width == 2_000)
    }

    @Test func `a placeholder in a slow format has that format's limit`() async throws {
        let fixture = try PipelineFixture(codec: codec) { $0.rules.limits.maximumOutputPixelsSlow = 10_000 }
        codec.release()
        func placeholder(_ side: Int, _ format: ImageFormat) async throws {
            let request = Request.path("/gone", width: side, format: .fixed(format))
            _ = try await fixture.pipeline.placeholder(for: request, color: .white)
        }
        try await placeholder(100, .avif)
        try await placeholder(101, .png)
        await #expect(throws: PipelineError.placeholderTooLarge) { try await placeholder(101, .avif) }
        await #expect(throws: PipelineError.placeholderTooLarge) { try await placeholder(101, .gif) }
    }
}

extension SampleFiles {
    /// A file that is expensive because of its size in bytes.
    fileprivate static var expensive: SharedBytes { SharedBytes(jpeg.array + [UInt8](repeating: 0, count: 32 << 20)) }
}

extension Request {
    /// The image at `/a` with millions of pixels; each number is a different result.
    fileprivate static func expensive(_ number: Int) -> Request {
        var request = Request.path(width: 1_500, format: .fixed(.avif))
        request.options.height = 1_500
        request.options.fit = .fill
        request.options.enlarge = true
        request.options.quality = 10 + 7 * number
        return request
    }
}

extension PipelineFixture {
    fileprivate func expensive(_ number: Int) async throws -> Thumbnail {
        try await pipeline.thumbnail(for: .expensive(number), directives: .none, receipt: "expensive \(number)")
    }

    /// The key of an expensive result.
    fileprivate func expensiveKey(_ number: Int) -> ResultKey? {
        let request = Request.expensive(number)
        guard let identity = try? downloader.identity(of: request.source),
            let record = caches.freshRecord(for: identity),
            let plan = try? RenderPlan(
                options: request.options, format: .avif, source: record.header, limits: ImagingLimits(), light: .linear)
        else { return nil }
        return ResultKey(source: identity, validator: record.validator, plan: plan)
    }

    /// Requests this number of expensive results: one has its turn and is being encoded, the others wait.
    fileprivate func startExpensive(_ count: Int, _ codec: HeldCodec) async throws -> [Task<Thumbnail, any Error>] {
        origin.serve(SampleFiles.jpeg, cacheControl: "max-age=60")
        // All wait for one transfer first, so that their queue timeouts start together.
        let gate = origin.hold()
        let tasks = (0..<count).map { number in Task.immediate { try await self.expensive(number) } }
        try requireDownload(callers: count)
        gate.open()
        await codec.begun(1)
        try #require(await eventually { self.lanes.expensiveLimiter.backlog.count == count - 1 })
        return tasks
    }

    /// Takes the only turn, unless it is taken, and queues as much work as the queue timeout allows.
    fileprivate func occupyTurns(
        behind taken: Int = 0
    ) throws -> (gate: Gate, waiting: [Task<Void, any Error>]) {
        let gate = Gate()
        let tasks = (0..<2).map { _ in
            Task.immediate { try await self.lanes.expensiveLimiter.run(cost: .seconds(2)) { await gate.pass() } }
        }
        try #require(lanes.expensiveLimiter.backlog.count == 1 + taken)
        return (gate, tasks)
    }
}
