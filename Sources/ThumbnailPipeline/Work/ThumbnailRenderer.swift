import Coordination
import Crypto
import Imaging
import Memory
import Recipes
import Telemetry
import ThumbnailTypes

/// Renders each result once for all concurrent callers, from shared decoded pixels.
///
/// A render looks in the layers below memory, waits for a permit, reserves memory for itself and its decodes, waits for
/// the decodes, and runs on a worker thread.
struct ThumbnailRenderer: Sendable {
    let configuration: PipelineConfiguration
    let resources: WorkResources
    let caches: CacheLayers
    let decoder: SourceDecoder
    let faceFinder: FaceFinder
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let estimator: WorkEstimator
    let timekeeper: any Timekeeper

    /// Returns a cached result, joins a render, or starts one; returns nil if the task lacks source bytes for it.
    func result(_ task: RenderTask) async throws -> RenderedImage? {
        let key = task.key
        repeat {
            do {
                let (result, participation) = try await estimator.renders.value(
                    for: key, cached: { caches.result(for: key) }
                ) {
                    try await self.lookUpOrRender(task)
                }
                return participation == .joined ? result.joined : result
            } catch PipelineError.missingBytes {
                try Task.checkCancellation()
            }
            // A task with all files fails only if it joined one without.
        } while task.hasFiles
        return nil
    }

    func uncachedResult(_ task: RenderTask) async throws -> RenderedImage {
        var queuedAt = timekeeper.now
        let cost = {
            queuedAt = timekeeper.now
            return estimator.cost(of: task.key, from: task.sources.records) { _ in false }
        }
        return try await scheduler.run(
            of: task.job.flow, queueTimeout: task.sources.queueTimeout, cost: cost
        ) { permit in
            let reservations = try await memory.reserve(for: task) { _ in false }
            defer { reservations.render.release() }
            let context = task.context(under: permit)
            let start = timekeeper.now
            let images = try await decoder.uncachedPixels(for: task, in: context, reservations: reservations.decodes)
            context.imagesInUse.add(images.main, for: task.key.decodeKey)
            let faces = try await neededFaces(for: task, in: context)
            let decoded = timekeeper.now
            let (result, steps) = try await render(images, for: task, faces: faces, cachesAdditions: false)
            return result.with(
                [CacheLayerStatus(.result, outcome: .request), CacheLayerStatus(.decoded, outcome: .request)],
                timings: Self.timings(
                    queued: start - queuedAt, threadWait: permit.waits.longest, decoded: decoded - start,
                    rendered: steps))
        }
    }

    /// Decodes in one pass all levels that the results of an opened source need.
    func decodeTogether(_ plan: DecodePlan, of opened: OpenedSource) async throws {
        let cost = {
            WorkCost(
                decodes: PerSource(decoder.costs.cost(of: opened.decodeKey(plan), from: opened.record)), render: .zero)
        }
        try await scheduler.run(of: .client(0), queueTimeout: nil, cost: cost) { permit in
            let reservation = try await resources.budget.reserve(opened.file.cost(of: plan))
            let context = WorkContext(permit: permit, imagesInUse: opened.imagesInUse, bill: nil)
            try await decoder.decodeLevels(of: plan, from: opened, in: context, reservation: reservation)
        }
    }

    func faces(in opened: OpenedSource, for job: Job) async throws -> [Face] {
        let record = opened.record
        let key = try faceFinder.key(of: record)
        let cost = {
            let isDecoded = estimator.isDecoded(key, imagesInUse: opened.imagesInUse)
            return WorkCost(
                decodes: PerSource(isDecoded ? .zero : decoder.costs.cost(of: key, from: record)),
                render: FaceSearch.time)
        }
        return try await scheduler.run(of: job.flow, queueTimeout: nil, cost: cost) { permit in
            try await faceFinder.faces(
                of: AvailableSource(opened),
                in: WorkContext(permit: permit, imagesInUse: opened.imagesInUse, bill: job.bill))
        }
    }

    private struct Wait {
        /// When the wait for the permit began.
        var queuedAt: Duration
        /// The wait for joined decodes before that; nil if none were joined.
        var joined: Duration?
    }

    private func lookUpOrRender(_ task: RenderTask) async throws -> RenderedImage {
        let job = task.job
        let lookup = await caches.lookUpResult(
            for: task.key, of: task.sources.records, waits: job.waits, after: job.earlierLookup)
        if let result = RenderedImage(lookup) { return result }
        var wait = Wait(queuedAt: timekeeper.now)
        return try await scheduler.run(of: job.flow, queueTimeout: task.sources.queueTimeout) {
            let begin = timekeeper.now
            let hasJoined = try await decoder.joinExpensiveDecodes(for: task)
            wait.queuedAt = timekeeper.now
            if hasJoined { wait.joined = (wait.joined ?? .zero) + wait.queuedAt - begin }
            return estimator.cost(of: task.key, from: task.sources.records, imagesInUse: task.imagesInUse)
        } _: { permit in
            try await decodeAndRender(task, in: task.context(under: permit), after: wait, shared: lookup.shared)
        }
    }

    /// - Parameter shared: The outcomes of lookups in shared layers.
    private func decodeAndRender(
        _ task: RenderTask, in context: WorkContext, after wait: Wait, shared: [CacheLayerStatus]
    ) async throws -> RenderedImage {
        let key = task.key
        let permit = context.permit
        let reservations = try await memory.reserve(for: task) {
            estimator.isDecoded($0, imagesInUse: context.imagesInUse)
        }
        defer { reservations.render.release() }
        let start = timekeeper.now
        let pixels = try await decoder.pixels(
            for: task, in: context, reservations: reservations.decodes, together: faceFinder.planTogether(with: task))
        let faces = try await neededFaces(for: task, in: context)
        let participation = wait.joined != nil && pixels.participation == .cached ? .joined : pixels.participation
        let decoded = timekeeper.now
        let (result, steps) = try await render(
            pixels.images, for: task, faces: faces, priority: participation == .started ? .finishing : .starting,
            queueTimeout: participation == .cached ? permit.queueTimeout : nil)
        let stored = caches.storeResult(result, for: key, of: task.sources.records)
        var status = [CacheLayerStatus(.result, outcome: .uriMiss)] + shared
        for index in status.indices { status[index].isStored = stored.contains(status[index].layer) }
        status.append(
            CacheLayerStatus(
                .decoded, outcome: participation == .cached ? .hit : .uriMiss, isCollapsed: participation == .joined,
                isStored: participation == .started && key.decodeKeys.allSatisfy { caches.hasPixels($0) }))
        return result.with(
            status,
            timings: Self.timings(
                queued: start - wait.queuedAt, threadWait: permit.waits.longest,
                decoded: participation == .cached ? nil : decoded - start + (wait.joined ?? .zero), rendered: steps))
    }

    private func neededFaces(for task: RenderTask, in context: WorkContext) async throws -> [Face] {
        guard task.key.plan.needsFaces else { return [] }
        return try await faceFinder.faces(of: task.sources.main, in: context)
    }

    /// - Parameters:
    ///   - queued: The wait for the permit and for memory.
    ///   - threadWait: The decode's wait for a thread.
    ///   - decoded: The time of the decode, including that wait; nil if the pixels were cached.
    private static func timings(
        queued: Duration, threadWait: Duration, decoded: Duration?, rendered: WorkClock.Steps
    ) -> [StepTiming] {
        [StepTiming("queue", duration: queued + threadWait + rendered.queue)]
            + (decoded.map { [StepTiming("decode", duration: max(.zero, $0 - threadWait))] } ?? [])
            + [StepTiming("render", duration: rendered.work), StepTiming("encode", duration: rendered.encoding)]
    }

    /// Runs ahead of queued decodes if it follows its own decode, because new decodes could delay it forever.
    private func render(
        _ images: PerSource<DecodedImage>, for task: RenderTask, faces: [Face], cachesAdditions: Bool = true,
        priority: WorkerPool.Priority = .finishing, queueTimeout: Duration? = nil
    ) async throws -> (RenderedImage, WorkClock.Steps) {
        let key = task.key
        let plan = key.plan
        let start = timekeeper.now
        let clock = WorkClock(at: start)
        defer { task.job.bill?.charge(processor: clock.processorTime.whole) }
        let workers = resources.lanes.workers(for: plan.timeCost(of: task.sources.main.record.header))
        let additionCache = cachesAdditions ? self.additionCache(for: task) : AdditionForm.uncached
        let result = try await workers.run(
            priority: priority, timeLimit: configuration.decodeTimeout, queueTimeout: queueTimeout
        ) { [codec = resources.codec, timekeeper] token in
            try clock.perform(token, at: timekeeper.now) {
                let image = try ImageRenderer.render(
                    images.main, additions: images.additional, additionCache: additionCache, faces: faces, plan: plan,
                    token: token, codec: codec)
                return RenderedImage(
                    plan.isDataURL ? image.asDataURL() : image, isIncomplete: images.contains(where: \.isIncomplete))
            }
        }
        let end = timekeeper.now
        resources.recordRender(of: key.source, format: plan.format, in: end - start, processor: clock.processorTime)
        clock.record("render", format: plan.format, until: end)
        return (result, clock.steps(until: end))
    }

    /// Caches scaled additional sources in the decoded cache, next to their pixels.
    private func additionCache(for task: RenderTask) -> AdditionPixelCache {
        { [caches] index, form, make in
            var key = task.key.decodeKeys.additional[index]
            key.form = form
            if let cached = caches.pixels(for: key, countsMiss: false) { return cached }
            let scaled = try make()
            caches.storePixels(scaled, for: key, of: task.sources.additional[index].record)
            return scaled
        }
    }
}

extension RenderedImage {
    /// The result found in a layer below memory; nil on a miss.
    init?(_ lookup: ResultLookup) {
        guard let result = lookup.result else { return nil }
        // A result from the disk counts as a hit of the result cache, and is not stored again.
        guard !lookup.shared.isEmpty else {
            self = result
            return
        }
        let status = CacheLayerStatus(.result, outcome: .uriMiss, isStored: lookup.isStored)
        self = result.with([status] + lookup.shared)
    }
}

extension EncodedImage {
    /// The image as a `data:` URL (RFC 2397), in one shared block.
    fileprivate func asDataURL() -> EncodedImage {
        let start = "data:\(format.mediaType);base64,"
        let digitCount = (bytes.count + 2) / 3 * 4
        var text = ByteAccumulator(reservingCapacity: start.utf8.count + digitCount)
        text.append(Array(start.utf8))
        for first in stride(from: 0, to: bytes.count, by: Self.piece) {
            let piece = SharedBytes(first..<min(first + Self.piece, bytes.count), of: bytes).array
            text.append(Array(Base64.encode(piece).utf8))
        }
        return EncodedImage(bytes: text.finish(), format: format, size: size, quality: quality, hasGainMap: hasGainMap)
    }

    /// Bytes encoded at a time: a multiple of three, so that only the last piece is padded.
    private static var piece: Int { 48 << 10 }
}
