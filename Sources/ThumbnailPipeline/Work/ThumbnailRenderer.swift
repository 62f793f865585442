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
    let faces: FaceFinder
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let estimator: WorkEstimator
    let timekeeper: any Timekeeper

    func resultWithoutSource(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job
    ) async throws -> RenderedImage? {
        do {
            return try await sharedResult(key, from: sources, for: job)
        } catch PipelineError.sourceNeeded {
            return nil
        }
    }

    /// Retries if it joined a render that failed because its starter had no source bytes.
    func result(_ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job) async throws -> RenderedImage
    {
        while true {
            do {
                return try await sharedResult(key, from: sources, for: job)
            } catch PipelineError.sourceNeeded {
                try Task.checkCancellation()
            }
        }
    }

    func unsharedResult(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job
    ) async throws -> RenderedImage {
        var queuedAt = timekeeper.now
        let cost = {
            queuedAt = timekeeper.now
            return estimator.cost(of: key, from: sources.records) { _ in false }
        }
        return try await scheduler.run(
            of: job.flow, weight: job.weight, queueTimeout: sources.queueTimeout, cost: cost
        ) { permit in
            let reservations = try await memory.reserve(for: key, from: sources, of: job.bill?.tenantFlow) { _ in false
            }
            defer { reservations.render.release() }
            let start = timekeeper.now
            let images = try await decoder.unsharedPixels(
                for: key, from: sources, for: job, permit: permit, reservations: reservations.decodes)
            let imagesInUse = ImagesInUse()
            imagesInUse.add(images.image, for: key.decodeKey)
            let faces = try await self.faces(
                for: key, of: sources.image, imagesInUse: imagesInUse, permit: permit, bill: job.bill)
            let decoded = timekeeper.now
            let (result, steps) = try await render(
                images, for: key, of: sources, faces: faces, cachesAdditions: false, bill: job.bill)
            return result.with(
                [CacheLayerStatus(.result, outcome: .request), CacheLayerStatus(.decoded, outcome: .request)],
                timings: Self.timings(
                    queued: start - queuedAt, threadWait: permit.waits.longest, decoded: decoded - start,
                    rendered: steps))
        }
    }

    /// Decodes in one pass all levels that the results of an opened source need.
    func decodeTogether(_ plan: DecodePlan, of opened: OpenedSource, flow: Int) async throws {
        let cost = {
            WorkCost(
                decodes: PerSource(decoder.costs.cost(of: opened.decodeKey(plan), from: opened.record)), render: .zero)
        }
        try await scheduler.run(of: flow, queueTimeout: nil, cost: cost) { permit in
            let reservation = try await resources.budget.reserve(
                opened.file.header.cost(of: plan, fileByteCount: opened.byteCount))
            try await decoder.decode(plan, of: opened, permit: permit, reservation: reservation, bill: nil)
        }
    }

    func faces(in opened: OpenedSource, for job: Job) async throws -> [Face] {
        let record = opened.record
        let key = try faces.key(of: record)
        let cost = {
            let isDecoded = estimator.isDecoded(key, imagesInUse: opened.imagesInUse)
            return WorkCost(
                decodes: PerSource(isDecoded ? .zero : decoder.costs.cost(of: key, from: record)),
                render: FaceSearch.time)
        }
        return try await scheduler.run(of: job.flow, weight: job.weight, queueTimeout: nil, cost: cost) {
            permit in
            try await faces.faces(
                of: AvailableSource(opened), imagesInUse: opened.imagesInUse, permit: permit, bill: job.bill)
        }
    }

    private func sharedResult(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job
    ) async throws -> RenderedImage {
        let (result, participation) = try await estimator.renders.value(for: key, cached: { caches.result(for: key) }) {
            try await self.render(key, from: sources, for: job)
        }
        return participation == .joined ? result.joined : result
    }

    private func render(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job
    ) async throws -> RenderedImage {
        let lookup = await caches.lookUpResult(
            for: key, of: sources.records, waits: job.waits, after: job.earlierLookup)
        if let result = RenderedImage(lookup) { return result }
        let imagesInUse = job.opened?.imagesInUse ?? ImagesInUse()
        var joined: Duration?
        var queuedAt = timekeeper.now
        return try await scheduler.run(of: job.flow, weight: job.weight, queueTimeout: sources.queueTimeout) {
            let begin = timekeeper.now
            let hasJoined = try await decoder.joinExpensiveDecodes(
                for: key, from: sources, for: job, imagesInUse: imagesInUse)
            queuedAt = timekeeper.now
            if hasJoined { joined = (joined ?? .zero) + queuedAt - begin }
            return estimator.cost(of: key, from: sources.records, imagesInUse: imagesInUse)
        } _: { permit in
            try await renderAdmitted(
                key, from: sources, for: job, permit: permit, imagesInUse: imagesInUse, joined: joined,
                queuedAt: queuedAt,
                shared: lookup.shared)
        }
    }

    /// - Parameters:
    ///   - joined: The time spent waiting for joined decodes before the permit.
    ///   - queuedAt: When the wait for the permit began.
    ///   - shared: The outcomes of lookups in shared layers.
    private func renderAdmitted(
        _ key: ResultKey, from sources: PerSource<AvailableSource>, for job: Job, permit: WorkPermit,
        imagesInUse: ImagesInUse, joined: Duration?, queuedAt: Duration, shared: [CacheLayerStatus]
    ) async throws -> RenderedImage {
        let reservations = try await memory.reserve(for: key, from: sources, of: job.bill?.tenantFlow) {
            estimator.isDecoded($0, imagesInUse: imagesInUse)
        }
        defer { reservations.render.release() }
        let start = timekeeper.now
        let pixels = try await decoder.pixels(
            for: key, from: sources, for: job, imagesInUse: imagesInUse, permit: permit,
            reservations: reservations.decodes,
            together: self.faces.planTogether(with: key, of: sources.image.record, imagesInUse: imagesInUse))
        let faces = try await self.faces(
            for: key, of: sources.image, imagesInUse: imagesInUse, permit: permit, bill: job.bill)
        let participation = joined != nil && pixels.participation == .cached ? .joined : pixels.participation
        let decoded = timekeeper.now
        let (result, steps) = try await render(
            pixels.images, for: key, of: sources, faces: faces,
            priority: participation == .started ? .finishing : .starting,
            queueTimeout: participation == .cached ? permit.queueTimeout : nil, bill: job.bill)
        let stored = caches.store(result, for: key, of: sources.records)
        var status = [CacheLayerStatus(.result, outcome: .uriMiss)] + shared
        for index in status.indices { status[index].isStored = stored.contains(status[index].layer) }
        status.append(
            CacheLayerStatus(
                .decoded, outcome: participation == .cached ? .hit : .uriMiss, isCollapsed: participation == .joined,
                isStored: participation == .started && key.decodeKeys.allSatisfy { caches.hasPixels($0) })
        )
        return result.with(
            status,
            timings: Self.timings(
                queued: start - queuedAt, threadWait: permit.waits.longest,
                decoded: participation == .cached ? nil : decoded - start + (joined ?? .zero), rendered: steps))
    }

    private func faces(
        for key: ResultKey, of source: AvailableSource, imagesInUse: ImagesInUse, permit: WorkPermit, bill: RequestBill?
    ) async throws -> [Face] {
        guard key.plan.needsFaces else { return [] }
        return try await faces.faces(of: source, imagesInUse: imagesInUse, permit: permit, bill: bill)
    }

    private typealias Steps = (queue: Duration, work: Duration, encoding: Duration)

    /// - Parameters:
    ///   - queued: The wait for the permit and for memory.
    ///   - threadWait: The decode's wait for a thread.
    ///   - decoded: The time of the decode, including that wait; nil if the pixels were cached.
    private static func timings(
        queued: Duration, threadWait: Duration, decoded: Duration?, rendered: Steps
    ) -> [StepTiming] {
        [StepTiming("queue", duration: queued + threadWait + rendered.queue)]
            + (decoded.map { [StepTiming("decode", duration: max(.zero, $0 - threadWait))] } ?? [])
            + [StepTiming("render", duration: rendered.work), StepTiming("encode", duration: rendered.encoding)]
    }

    /// Runs ahead of queued decodes if it follows its own decode, because new decodes could delay it forever.
    private func render(
        _ images: PerSource<DecodedImage>, for key: ResultKey, of sources: PerSource<AvailableSource>, faces: [Face],
        cachesAdditions: Bool = true, priority: WorkerPool.Priority = .finishing, queueTimeout: Duration? = nil,
        bill: RequestBill?
    ) async throws -> (RenderedImage, Steps) {
        let plan = key.plan
        let start = timekeeper.now
        let clock = WorkClock(at: start)
        defer { bill?.charge(processor: clock.wholeProcessorTime) }
        let workers = resources.lanes.workers(for: plan.timeCost(of: sources.image.record.header))
        let additionCache = cachesAdditions ? self.additionCache(for: key, of: sources) : AdditionForm.uncached
        let result = try await workers.run(
            priority: priority, timeLimit: configuration.decodeTimeout, queueTimeout: queueTimeout
        ) { [codec = resources.codec, timekeeper] token in
            try clock.perform(token, at: timekeeper.now) {
                let image = try ImageRenderer.render(
                    images.image, additions: images.additional, additionCache: additionCache, faces: faces, plan: plan,
                    token: token,
                    codec: codec)
                return RenderedImage(
                    plan.isDataURL ? image.asDataURL() : image, isIncomplete: images.contains(where: \.isIncomplete))
            }
        }
        let end = timekeeper.now
        let steps = clock.steps(until: end)
        let processor = clock.processorTime
        resources.recordRender(
            of: key.source, format: plan.format, in: end - start, work: processor.work, encoding: processor.encoding)
        clock.record("render", format: plan.format, until: end)
        return (result, steps)
    }

    /// Caches scaled additional sources in the decoded cache, next to their pixels.
    private func additionCache(for result: ResultKey, of sources: PerSource<AvailableSource>) -> AdditionPixelCache {
        { [caches] index, form, make in
            var key = result.decodeKeys.additional[index]
            key.form = form
            if let cached = caches.pixels(for: key, countsMiss: false) { return cached }
            let scaled = try make()
            caches.store(scaled, for: key, of: sources.additional[index].record)
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
