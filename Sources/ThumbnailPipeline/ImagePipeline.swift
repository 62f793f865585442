package import Coordination
package import Downloading
package import HTTPTypes
import ImageCaching
package import Imaging
import Memory

/// Turns a thumbnail request into an encoded image, doing each piece of work at most once at a time.
///
/// The steps, in order: result cache · join an identical render · decoded cache · join an identical decode · source cache ·
/// join or start a download. Each caller waits for its download itself, under its own receipt; decodes and renders belong to
/// nobody and run on the worker threads, never while a download is waited for.
package final class ImagePipeline: ThumbnailServing {
    let downloader: ImageDownloader
    let caches: PipelineCaches
    let lanes: WorkLanes
    let broken: BrokenSources
    let budget: MemoryBudget
    private let codec: any ImageCodec
    private let configuration: PipelineConfiguration
    private let timekeeper: any Timekeeper
    private let metrics: PipelineMetrics
    private let admission: MissAdmission
    private let scheduler: WorkScheduler
    private let memory: WorkMemory
    private let atHand: WorkAtHand
    let placeholders: PlaceholderMaker
    let decodes = SharedTasks<DecodeKey, DecodedImage>()
    let renders = SharedTasks<ResultKey, Render>()
    private static let resultHit = [CacheLayerStatus(.result, .hit)]

    /// A pipeline over these parts; `caches` is also the cache that `downloader` asks.
    package init(
        configuration: PipelineConfiguration, downloader: ImageDownloader, caches: PipelineCaches, lanes: WorkLanes,
        codec: any ImageCodec = InProcessCodec(), metrics: PipelineMetrics, timekeeper: any Timekeeper,
        budget: MemoryBudget = MemoryBudget()
    ) {
        self.budget = budget
        self.configuration = configuration
        self.downloader = downloader
        self.caches = caches
        self.lanes = lanes
        self.codec = codec
        self.metrics = metrics
        self.timekeeper = timekeeper
        admission = MissAdmission(lanes: lanes, maximumDelay: configuration.maximumQueueDelay)
        scheduler = WorkScheduler(lanes: lanes, admission: admission)
        memory = WorkMemory(budget: budget)
        atHand = WorkAtHand(caches: caches, decodes: decodes, renders: renders)
        placeholders = PlaceholderMaker(
            configuration: configuration, scheduler: scheduler, memory: memory, codec: codec)
        broken = BrokenSources(timeLimit: configuration.failureMemory, timekeeper: timekeeper)
    }

    /// The request with its source resolved.
    package func resolved(_ request: ThumbnailRequest) -> RecurringRequest {
        let source = Result { () throws(SourceURLError) in try downloader.identity(of: request.source) }
        return RecurringRequest(request, source: source)
    }

    /// The thumbnail if the result cache has it and its source is fresh.
    package func cachedThumbnail(for recurring: RecurringRequest) -> Thumbnail? {
        let last = recurring.last
        guard let identity = try? last?.record.identity ?? recurring.source.get(),
            let record = caches.record(for: identity)
        else { return nil }
        let key: ResultKey
        if let last, last.record === record {
            key = last.key
        } else {
            guard let found = try? resultKey(for: recurring.request, record) else { return nil }
            recurring.remember(found, for: record)
            key = found
        }
        guard let result = caches.results.value(for: key, countsMiss: false) else { return nil }
        return thumbnail(Finding(result: result, record: record, isFromCache: true, status: Self.resultHit))
    }

    /// Changes with the caches that ``cachedThumbnail(for:)`` asks.
    package var generation: Int { caches.generation }

    /// Counts a hit of the result cache.
    package func countRepeatedHit() { caches.results.countRepeatedHit() }

    /// A refusal where the workers have too much to do, unless others do this request's work, or it may be on the disk.
    ///
    /// As long as nothing is known of a source, its thumbnail counts as small.
    package func refusal(of recurring: RecurringRequest) -> (any ServiceError)? {
        let isAnyBusy = WorkLanes.Lane.allCases.contains { admission.refusal(in: $0) != nil }
        guard isAnyBusy, !caches.hasSlowerLayer else { return nil }
        var lane = WorkLanes.Lane.small
        if let identity = try? recurring.source.get(), let record = caches.knownRecord(for: identity),
            let key = try? resultKey(for: recurring.request, record)
        {
            if atHand.needsNoWorker(key) { return nil }
            lane = atHand.price(of: key, record).lane
        }
        guard let refusal = admission.refusal(in: lane) else { return nil }
        metrics.refused()
        return refusal
    }

    /// The thumbnail, by the shortest way there is.
    package func thumbnail(
        for recurring: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail {
        let request = recurring.request
        let identity = try recurring.source.get()
        let call = Call(request: request, source: identity, directives: directives, receipt: receipt)
        if directives.noStore { return try await unstoredThumbnail(for: call) }
        var needsBytes = true
        var lane = WorkLanes.Lane.small
        let record = await caches.restoredRecord(for: identity)
        if !directives.noCache, !directives.onlyIfCached,
            let failure = broken.failure(
                of: identity, known: record, plan: { try resultKey(for: request, $0).plan.decode })
        {
            throw failure
        }
        if let record {
            let reuse = downloader.reuse(of: record.freshness, for: directives)
            if reuse != .needsValidation {
                let key = try resultKey(for: request, record)
                if atHand.isWithinReach(key) || caches.hasSlowerLayer,
                    let render = try await renderWithoutSource(key, record)
                {
                    if reuse == .usableWhileRevalidating, !directives.onlyIfCached { downloader.revalidate(identity) }
                    return thumbnail(render, record, isFromCache: true, fetch: nil)
                }
                lane = atHand.price(of: key, record).lane
            } else if let key = try? resultKey(for: request, record) {
                // What was made from the source will do, should its origin confirm it.
                if !atHand.isWithinReach(key) { _ = await caches.restoredResult(for: key, of: record) }
                needsBytes = !atHand.isWithinReach(key)
                lane = atHand.price(of: key, record).lane
            }
        }
        // Judged again, because many may have come before the first of them was seen in the queue.
        if needsBytes { try admission.admit(to: lane) }
        return try await fetchedThumbnail(for: call, needsBytes: needsBytes)
    }

    private func resultKey(for request: ThumbnailRequest, _ record: SourceRecord) throws -> ResultKey {
        let format = request.format.format(
            own: record.header.format, hasAlpha: record.header.hasAlpha, automatic: configuration.automaticFormats)
        let plan = try RenderPlan(
            options: request.options, format: format, source: record.header, limits: configuration.limits,
            light: configuration.light)
        return ResultKey(source: record.identity, validator: record.validator, plan: plan)
    }

    /// A plain image in the size of the request's box; 1×1 where the request names no side.
    package func placeholder(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage {
        try await placeholders.image(for: request, color: color)
    }

    private func fetchedThumbnail(for call: Call, needsBytes: Bool) async throws -> Thumbnail {
        var fetch = try await fetch(for: call, needsBytes: needsBytes)
        while true {
            if let fetch {
                let isFromCache = fetch.status.outcome == .hit
                let key = try resultKey(for: call.request, fetch.record)
                let render: SharedRender?
                if let bytes = fetch.bytes {
                    // What was fetched for this caller is not given up as long as there is time.
                    render = try await renderedImage(
                        RenderJob(
                            key: key, record: fetch.record, bytes: bytes,
                            patience: isFromCache ? nil : fetch.timeLeft))
                } else {
                    render = try await renderWithoutSource(key, fetch.record)
                }
                if let render { return thumbnail(render, fetch.record, isFromCache: isFromCache, fetch: fetch) }
            }
            // The source is unchanged, but what was made from it has gone meanwhile.
            fetch = try await self.fetch(for: call.again, needsBytes: true)
        }
    }

    /// A source that may be used for this caller; nil where it came without bytes and nothing else is known of it any more.
    private func fetch(for call: Call, needsBytes: Bool) async throws -> Fetch? {
        let start = timekeeper.now
        let moment = broken.moment
        let delivery = try await downloader.download(
            SourceRequest(identity: call.source, directives: call.directives, needsBytes: needsBytes),
            receipt: call.receipt,
            deadline: start + configuration.requestTimeout)
        let record: SourceRecord
        if let known = caches.knownRecord(for: call.source), known.validator == delivery.head.validator {
            record = SourceRecord(delivery.head, header: known.header)
        } else if let bytes = delivery.bytes {
            do throws(ImagingError) {
                record = try SourceRecord(delivery.head, bytes: bytes)
            } catch {
                if !call.directives.noStore { broken.remember(error, of: delivery.head, since: moment) }
                throw error
            }
        } else {
            return nil
        }
        let duration = timekeeper.now - start
        return Fetch(
            delivery: delivery, record: record, isStored: !call.directives.noStore && caches.isStored(record),
            now: timekeeper.secondsSince1970, duration: duration, timeLeft: configuration.requestTimeout - duration)
    }

    /// A thumbnail that neither comes from a cache nor goes into one.
    private func unstoredThumbnail(for call: Call) async throws -> Thumbnail {
        try admission.admit(to: .small)
        guard let fetch = try await fetch(for: call, needsBytes: true), let bytes = fetch.bytes
        else { throw PipelineError.sourceNeeded }
        let key = try resultKey(for: call.request, fetch.record)
        let job = RenderJob(key: key, record: fetch.record, bytes: bytes, patience: fetch.timeLeft)
        let (result, timings) = try await scheduler.run(
            WorkPrice(of: key.plan, from: fetch.record.header, decoding: bytes.count), patience: job.patience
        ) { patience in
            let room = try await memory.reserve(for: job, isDecoded: false)
            defer { room.render.release() }
            let start = timekeeper.now
            let image = try await decode(bytes, for: job, patience: patience, room: room.decode)
            let decoded = timekeeper.now
            let result = try await render(image, for: job)
            return (
                result, [StepTiming("decode", decoded - start), StepTiming("render", timekeeper.now - decoded)]
            )
        }
        return thumbnail(
            Finding(
                result: result, record: fetch.record, isFromCache: false,
                status: [CacheLayerStatus(.result, .request), CacheLayerStatus(.decoded, .request), fetch.status],
                timings: fetch.timings + timings))
    }

    /// Renders from what is in memory; nil when that was evicted meanwhile.
    private func renderWithoutSource(_ key: ResultKey, _ record: SourceRecord) async throws -> SharedRender? {
        do {
            return try await shareRender(RenderJob(key: key, record: record))
        } catch PipelineError.sourceNeeded {
            return nil
        }
    }

    /// Renders with the source at hand; work that others began without it, and lost, is begun again.
    private func renderedImage(_ job: RenderJob) async throws -> SharedRender {
        while true {
            do {
                return try await shareRender(job)
            } catch PipelineError.sourceNeeded {
                try Task.checkCancellation()
            }
        }
    }

    private func shareRender(_ job: RenderJob) async throws -> SharedRender {
        let cached = { self.caches.results.value(for: job.key).map { Render(result: $0) } }
        let (render, origin) = try await renders.value(for: job.key, cached: cached) {
            try await self.render(job)
        }
        return SharedRender(render: render, origin: origin)
    }

    private func render(_ job: RenderJob) async throws -> Render {
        if let result = await caches.restoredResult(for: job.key, of: job.record) {
            return Render(result: result, isFromDisk: true)
        }
        let price = atHand.price(of: job.key, job.record, bytes: job.bytes)
        return try await scheduler.run(price, patience: job.patience) { patience in
            try await renderInTurn(job, patience: patience)
        }
    }

    private func renderInTurn(_ job: RenderJob, patience: Duration) async throws -> Render {
        let room = try await memory.reserve(for: job, isDecoded: atHand.isDecoded(job.key))
        defer { room.render.release() }
        let start = timekeeper.now
        let (image, origin) = try await decodedImage(for: job, patience: patience, room: room.decode)
        let decoded = timekeeper.now
        let result = try await render(
            image, for: job, priority: origin == .started ? .finishing : .starting,
            patience: origin == .cache ? patience : nil)
        let end = timekeeper.now
        let isStored = caches.keep(result, for: job.key, of: job.record)
        return Render(
            result: result, isStored: isStored,
            decoded: CacheLayerStatus(
                .decoded, origin == .cache ? .hit : .uriMiss, isCollapsed: origin == .joined,
                isStored: origin == .started && caches.decoded.contains(job.key.decodeKey)),
            timings: (origin == .cache ? [] : [StepTiming("decode", decoded - start)])
                + [StepTiming("render", end - decoded)])
    }

    /// Goes before decodes if it ends what its own decode has begun: others could keep decodes waiting for ever.
    ///
    /// Waits without a bound if the decode was done for it.
    private func render(
        _ image: DecodedImage, for job: RenderJob, priority: WorkerPool.Priority = .finishing,
        patience: Duration? = nil
    ) async throws -> RenderedImage {
        let plan = job.key.plan
        let start = timekeeper.now
        let result = try await lanes.workers(for: plan.timePrice(of: job.record.header)).run(
            priority: priority, timeLimit: configuration.decodeTimeout, patience: patience
        ) { [codec] token in
            RenderedImage(
                try ImageRenderer.render(image, plan: plan, token: token, codec: codec),
                isIncomplete: image.isIncomplete)
        }
        metrics.rendered(plan.format, in: timekeeper.now - start)
        return result
    }

    private func decodedImage(
        for job: RenderJob, patience: Duration, room: MemoryReservation?
    ) async throws -> (value: DecodedImage, origin: SharedTasks<DecodeKey, DecodedImage>.Origin) {
        let key = job.key.decodeKey
        return try await decodes.value(for: key, cached: { self.caches.decoded.value(for: key) }) {
            guard let bytes = job.bytes ?? self.caches.bytes(of: job.record) else { throw PipelineError.sourceNeeded }
            let image = try await self.decode(bytes, for: job, patience: patience, room: room)
            self.caches.keep(image, for: key, of: job.record)
            return image
        }
    }

    private func decode(
        _ bytes: SharedBytes, for job: RenderJob, patience: Duration, room: MemoryReservation?
    ) async throws -> DecodedImage {
        let record = job.record
        let key = job.key.decodeKey
        // Nothing was reserved where the pixels were there a moment ago.
        let room = try room ?? budget.reserveNow(record.header.price(of: key.plan, fileByteCount: bytes.count))
        defer { room.release() }
        let limits = configuration.limits
        let moment = broken.moment
        do {
            let start = timekeeper.now
            let price = record.header.timePrice(of: key.plan, fileByteCount: bytes.count)
            let image = try await lanes.workers(for: price).run(
                timeLimit: configuration.decodeTimeout, patience: patience
            ) { [codec] token in
                try codec.decode(bytes, header: record.header, plan: key.plan, limits: limits, token: token)
            }
            metrics.decoded(record.header.format, in: timekeeper.now - start)
            broken.forget(key.plan, of: key.source)
            if image.isIncomplete, caches.isCurrent(record) {
                caches.limit(record, until: timekeeper.now + .seconds(Freshness.longestOfIncomplete))
            }
            return image
        } catch let error as ImagingError {
            if caches.isCurrent(record) {
                broken.remember(error, key.plan, of: record, since: moment)
                // What cannot be decoded is no picture worth keeping: the origin is asked again, but not at once by everyone. Where
                // only a later frame is broken, or animating is too much, the rest of it is; and so is what some decoder has made pixels of.
                if key.plan.isFirstPage, error.isFaultOfSource, !caches.hasMadeAny(from: key.source) {
                    caches.removeAll(from: key.source)
                }
            }
            throw error
        }
    }

    private func thumbnail(
        _ shared: SharedRender, _ record: SourceRecord, isFromCache: Bool, fetch: Fetch?
    ) -> Thumbnail {
        var status = [shared.resultStatus]
        if shared.origin == .started, let decoded = shared.render.decoded { status.append(decoded) }
        if let fetch {
            status.append(fetch.status)
        } else if case let timeToLive = record.freshness.remainingLifetime(at: timekeeper.secondsSince1970),
            timeToLive <= 0
        {
            status.append(CacheLayerStatus(.source, .hit, timeToLive: timeToLive))
        }
        let timings = (fetch?.timings ?? []) + (shared.origin == .started ? shared.render.timings : [])
        return thumbnail(
            Finding(
                result: shared.render.result, record: record, isFromCache: isFromCache, status: status,
                timings: timings))
    }

    private func thumbnail(_ finding: Finding) -> Thumbnail {
        let result = finding.result
        var freshness = Freshness(
            finding.record.freshness, at: timekeeper.secondsSince1970, isFromCache: finding.isFromCache,
            bounds: configuration.clientMaxAge)
        if result.isIncomplete { freshness.limit(to: Freshness.longestOfIncomplete) }
        return Thumbnail(
            image: result.image, isIncomplete: result.isIncomplete, eTag: result.eTag,
            lastModified: finding.record.head.lastModified, freshness: freshness, cacheStatus: finding.status,
            timings: finding.timings, place: finding.status == Self.resultHit ? result.place : nil)
    }
}
