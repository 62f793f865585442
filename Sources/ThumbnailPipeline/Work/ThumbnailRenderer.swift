import Coordination
import Crypto
import Imaging
import Memory
import ThumbnailTypes

/// Renders results: each once for all callers, from pixels decoded once for all renders.
///
/// Renders are shared by result key. A render checks the disk, waits for its turn if it is expensive, reserves memory
/// for itself and its decodes, has the sources decoded, and runs on a worker thread.
struct ThumbnailRenderer: Sendable {
    let configuration: PipelineConfiguration
    let resources: WorkResources
    let caches: CacheLayers
    let decoder: SourceDecoder
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let estimator: WorkEstimator
    let timekeeper: any Timekeeper

    /// Renders from memory; nil if the inputs were evicted meanwhile.
    func resultFromMemory(_ job: RenderJob) async throws -> Render? {
        do {
            return try await shared(job)
        } catch PipelineError.sourceNeeded {
            return nil
        }
    }

    /// Renders from the available sources; restarts work that others began without them and that failed for lack of
    /// them.
    func result(_ job: RenderJob) async throws -> Render {
        while true {
            do {
                return try await shared(job)
            } catch PipelineError.sourceNeeded {
                try Task.checkCancellation()
            }
        }
    }

    /// Renders a result without reading or writing caches.
    func unsharedResult(_ job: RenderJob) async throws -> Render {
        let cost = WorkCost(of: job.key, job.records) { job.bytes[$0]?.count ?? 0 }
        return try await scheduler.run(cost, queueTimeout: job.queueTimeout) { queueTimeout in
            let rooms = try await memory.reserve(for: job) { _ in false }
            defer { rooms.render.release() }
            let start = timekeeper.now
            let images = try await decoder.unsharedPixels(for: job, queueTimeout: queueTimeout, rooms: rooms.decodes)
            let decoded = timekeeper.now
            let result = try await render(images, for: job, keepsForms: false)
            return Render(
                result: result, outcome: .request, decoded: CacheLayerStatus(.decoded, .request),
                timings: [StepTiming("decode", decoded - start), StepTiming("render", timekeeper.now - decoded)])
        }
    }

    private func shared(_ job: RenderJob) async throws -> Render {
        let cached = { caches.memory.results.value(for: job.key).map { Render(result: $0) } }
        var (render, participation) = try await estimator.renders.value(for: job.key, cached: cached) {
            try await self.render(job)
        }
        render.participation = participation
        return render
    }

    private func render(_ job: RenderJob) async throws -> Render {
        let restored = await caches.restoredResult(for: job.key, of: job.records, job.allowances, after: job.look)
        if let result = restored.result {
            // A result from the disk counts as a hit of the result cache, and fills nothing.
            return Render(
                result: result, outcome: restored.shared.isEmpty ? .hit : .uriMiss,
                isStored: !restored.shared.isEmpty && restored.isStored, shared: restored.shared)
        }
        let cost = estimator.cost(of: job.key, job.records, bytes: job.bytes, held: job.held)
        return try await scheduler.run(cost, queueTimeout: job.queueTimeout) { queueTimeout in
            try await renderInTurn(job, queueTimeout: queueTimeout, shared: restored.shared)
        }
    }

    private func renderInTurn(
        _ job: RenderJob, queueTimeout: Duration, shared: [CacheLayerStatus]
    ) async throws -> Render {
        let rooms = try await memory.reserve(for: job) { estimator.isDecoded($0, held: job.held) }
        defer { rooms.render.release() }
        let start = timekeeper.now
        let pixels = try await decoder.pixels(for: job, queueTimeout: queueTimeout, rooms: rooms.decodes)
        let participation = pixels.participation
        let decoded = timekeeper.now
        let result = try await render(
            pixels.images, for: job, priority: participation == .started ? .finishing : .starting,
            queueTimeout: participation == .cached ? queueTimeout : nil)
        let end = timekeeper.now
        let kept = caches.store(result, for: job.key, of: job.records)
        var shared = shared
        let layers = kept.shared.map(\.status)
        for index in shared.indices where layers.contains(shared[index].layer) { shared[index].isStored = true }
        return Render(
            result: result, isStored: kept.isStored, shared: shared,
            decoded: CacheLayerStatus(
                .decoded, participation == .cached ? .hit : .uriMiss, isCollapsed: participation == .joined,
                isStored: participation == .started
                    && job.key.decodeKeys.allSatisfy { caches.memory.decoded.contains($0) }),
            timings: (participation == .cached ? [] : [StepTiming("decode", decoded - start)])
                + [StepTiming("render", end - decoded)])
    }

    /// Renders ahead of decodes if the render completes its own decode, because others could otherwise delay it
    /// forever.
    ///
    /// Waits without a limit if a decode was done for it.
    ///
    /// - Parameter keepsForms: Whether the forms of additional sources are read from and written to the decoded cache.
    private func render(
        _ images: PerSource<DecodedImage>, for job: RenderJob, keepsForms: Bool = true,
        priority: WorkerPool.Priority = .finishing, queueTimeout: Duration? = nil
    ) async throws -> RenderedImage {
        let plan = job.key.plan
        let start = timekeeper.now
        let trace = WorkTrace(at: start)
        let workers = resources.lanes.workers(for: plan.timeCost(of: job.records.image.header))
        let reuse = keepsForms ? self.reuse(for: job) : AdditionForm.made
        let result = try await workers.run(
            priority: priority, timeLimit: configuration.decodeTimeout, queueTimeout: queueTimeout
        ) { [codec = resources.codec, timekeeper] token in
            trace?.begin(token, at: timekeeper.now)
            let image = try ImageRenderer.render(
                images.image, additions: images.additional, reuse: reuse, plan: plan, token: token, codec: codec)
            return RenderedImage(
                plan.isDataURL ? image.asDataURL() : image, isIncomplete: images.contains(where: \.isIncomplete))
        }
        let end = timekeeper.now
        resources.rendered(job.key.source, plan.format, in: end - start)
        trace?.record("render", plan.format, until: end)
        return result
    }

    /// Stores the forms of a job's additional sources in the decoded cache, next to the pixels that they are made from.
    private func reuse(for job: RenderJob) -> AdditionFormReuse {
        { [caches] index, form, make in
            var key = job.key.decodeKeys.additional[index]
            key.form = form
            if let kept = caches.memory.decoded.value(for: key, countsMiss: false) { return kept }
            let made = try make()
            caches.store(made, for: key, of: job.records.additional[index])
            return made
        }
    }
}

extension EncodedImage {
    /// The file as the text of a `data:` URL (RFC 2397), in one block that counts itself.
    ///
    /// It is created with the result and stored in its place, so that all readers share it.
    fileprivate func asDataURL() -> EncodedImage {
        let start = "data:\(format.mediaType);base64,"
        let digitCount = (bytes.count + 2) / 3 * 4
        var text = ByteAccumulator(reservingCapacity: start.utf8.count + digitCount)
        text.append(Array(start.utf8))
        for first in stride(from: 0, to: bytes.count, by: Self.piece) {
            let piece = SharedBytes(first..<min(first + Self.piece, bytes.count), of: bytes).array
            text.append(Array(Base64.encode(piece).utf8))
        }
        return EncodedImage(
            bytes: text.finish(), format: format, size: size, quality: quality, hasGainMap: hasGainMap)
    }

    /// The number of bytes encoded at once: whole groups of three, so that only the last piece is padded.
    private static var piece: Int { 48 << 10 }
}
