package import Coordination
package import Downloading
package import HTTPTypes
import ImageCaching
package import Imaging
import Memory
import Text

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
    let codec: any ImageCodec
    let configuration: PipelineConfiguration
    private let timekeeper: any Timekeeper
    private let metrics: PipelineMetrics
    let admission: MissAdmission
    let placeholders = PlaceholderCache()
    let decodes = SharedTasks<DecodeKey, DecodedImage>()
    let renders = SharedTasks<ResultKey, Render>()
    private let identities = BoundedMemo<ExactText, SourceIdentity>(capacity: 8_192)
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
        broken = BrokenSources(timeLimit: configuration.failureMemory, timekeeper: timekeeper)
    }

    /// The thumbnail if the result cache has it and its source is fresh.
    package func cachedThumbnail(for recurring: RecurringRequest) -> Thumbnail? {
        let last = recurring.last
        guard let identity = try? last?.record.identity ?? identity(of: recurring.request.source),
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
        return thumbnail(result, record, isFromCache: true, status: Self.resultHit, timings: [])
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
        if let identity = try? identity(of: recurring.request.source), let record = caches.knownRecord(for: identity),
            let key = try? resultKey(for: recurring.request, record)
        {
            if needsNoWorker(key) { return nil }
            lane = price(of: key, record).lane
        }
        guard let refusal = admission.refusal(in: lane) else { return nil }
        metrics.refused()
        return refusal
    }

    /// The thumbnail, by the shortest way there is.
    package func thumbnail(
        for request: ThumbnailRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> Thumbnail {
        let identity = try identity(of: request.source)
        if directives.noStore { return try await unstoredThumbnail(for: request, identity, directives, receipt) }
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
                if isWithinReach(key) || caches.hasSlowerLayer,
                    let render = try await renderWithoutSource(key, record)
                {
                    if reuse == .usableWhileRevalidating, !directives.onlyIfCached { downloader.revalidate(identity) }
                    return thumbnail(render, record, isFromCache: true, fetch: nil)
                }
                lane = price(of: key, record).lane
            } else if let key = try? resultKey(for: request, record) {
                // What was made from the source will do, should its origin confirm it.
                if !isWithinReach(key) { _ = await caches.restoredResult(for: key, of: record) }
                needsBytes = !isWithinReach(key)
                lane = price(of: key, record).lane
            }
        }
        // Judged again, because many may have come before the first of them was seen in the queue.
        if needsBytes { try admission.admit(to: lane) }
        return try await fetchedThumbnail(for: request, identity, directives, needsBytes: needsBytes, receipt)
    }

    /// The identity of a source as a client names it.
    func identity(of source: ExactText) throws -> SourceIdentity {
        if let known = identities[source] { return known }
        let identity = try downloader.identity(of: source)
        identities[source] = identity
        return identity
    }

    private func resultKey(for request: ThumbnailRequest, _ record: SourceRecord) throws -> ResultKey {
        let format = request.format.format(
            own: record.header.format, hasAlpha: record.header.hasAlpha, automatic: configuration.automaticFormats)
        let plan = try RenderPlan(
            options: request.options, format: format, source: record.header, limits: configuration.limits,
            light: configuration.light)
        return ResultKey(source: record.identity, validator: record.validator, plan: plan)
    }

    /// Whether the result can be had, as things stand, without the source's bytes.
    private func isWithinReach(_ key: ResultKey) -> Bool {
        needsNoWorker(key) || caches.decoded.contains(key.decodeKey) || decodes.contains(key.decodeKey)
    }

    /// Whether the result is there, though its source may be stale, or others are having it made.
    private func needsNoWorker(_ key: ResultKey) -> Bool { caches.results.contains(key) || renders.contains(key) }

    private func fetchedThumbnail(
        for request: ThumbnailRequest, _ identity: SourceIdentity, _ directives: RequestCacheControl, needsBytes: Bool,
        _ receipt: String
    ) async throws -> Thumbnail {
        var fetch = try await fetch(identity, directives, needsBytes: needsBytes, receipt)
        while true {
            if let fetch {
                let isFromCache = fetch.status.outcome == .hit
                let key = try resultKey(for: request, fetch.record)
                let render: SharedRender?
                if let bytes = fetch.bytes {
                    // What was fetched for this caller is not given up as long as there is time.
                    render = try await renderedImage(
                        key, fetch.record, bytes: bytes,
                        patience: isFromCache ? nil : fetch.timeLeft)
                } else {
                    render = try await renderWithoutSource(key, fetch.record)
                }
                if let render { return thumbnail(render, fetch.record, isFromCache: isFromCache, fetch: fetch) }
            }
            // The source is unchanged, but what was made from it has gone meanwhile.
            var again = RequestCacheControl.none
            again.onlyIfCached = directives.onlyIfCached
            fetch = try await self.fetch(identity, again, needsBytes: true, receipt)
        }
    }

    /// A source that may be used for this caller; nil where it came without bytes and nothing else is known of it any more.
    private func fetch(
        _ identity: SourceIdentity, _ directives: RequestCacheControl, needsBytes: Bool, _ receipt: String
    ) async throws -> Fetch? {
        let start = timekeeper.now
        let moment = broken.moment
        let delivery = try await downloader.download(
            SourceRequest(identity: identity, directives: directives, needsBytes: needsBytes), receipt: receipt,
            deadline: start + configuration.requestTimeout)
        let record: SourceRecord
        if let known = caches.knownRecord(for: identity), known.validator == delivery.head.validator {
            record = SourceRecord(delivery.head, header: known.header)
        } else if let bytes = delivery.bytes {
            do throws(ImagingError) {
                record = try SourceRecord(delivery.head, bytes: bytes)
            } catch {
                if !directives.noStore { broken.remember(error, of: delivery.head, since: moment) }
                throw error
            }
        } else {
            return nil
        }
        let duration = timekeeper.now - start
        return Fetch(
            delivery: delivery, record: record, isStored: !directives.noStore && caches.isStored(record),
            now: timekeeper.secondsSince1970, duration: duration, timeLeft: configuration.requestTimeout - duration)
    }

    /// A thumbnail that neither comes from a cache nor goes into one.
    private func unstoredThumbnail(
        for request: ThumbnailRequest, _ identity: SourceIdentity, _ directives: RequestCacheControl, _ receipt: String
    ) async throws -> Thumbnail {
        try admission.admit(to: .small)
        guard let fetch = try await fetch(identity, directives, needsBytes: true, receipt), let bytes = fetch.bytes
        else { throw PipelineError.sourceNeeded }
        let key = try resultKey(for: request, fetch.record)
        let (result, timings) = try await inLane(
            WorkPrice(of: key.plan, from: fetch.record.header, decoding: bytes.count), patience: fetch.timeLeft
        ) { patience in
            let room = try await reserveMemory(for: key, of: fetch.record, file: bytes, isDecoded: false)
            defer { room.render.release() }
            let start = timekeeper.now
            let image = try await decode(key.decodeKey, fetch.record, bytes, patience: patience, room: room.decode)
            let decoded = timekeeper.now
            let result = try await render(image, key.plan, fetch.record)
            return (
                result, [StepTiming("decode", decoded - start), StepTiming("render", timekeeper.now - decoded)]
            )
        }
        return thumbnail(
            result, fetch.record, isFromCache: false,
            status: [CacheLayerStatus(.result, .request), CacheLayerStatus(.decoded, .request), fetch.status],
            timings: fetch.timings + timings)
    }

    /// Renders from what is in memory; nil when that was evicted meanwhile.
    private func renderWithoutSource(_ key: ResultKey, _ record: SourceRecord) async throws -> SharedRender? {
        do {
            return try await shareRender(key, record, bytes: nil, patience: nil)
        } catch PipelineError.sourceNeeded {
            return nil
        }
    }

    /// Renders with the source at hand; work that others began without it, and lost, is begun again.
    private func renderedImage(
        _ key: ResultKey, _ record: SourceRecord, bytes: SharedBytes, patience: Duration?
    ) async throws -> SharedRender {
        while true {
            do {
                return try await shareRender(key, record, bytes: bytes, patience: patience)
            } catch PipelineError.sourceNeeded {
                try Task.checkCancellation()
            }
        }
    }

    private func shareRender(
        _ key: ResultKey, _ record: SourceRecord, bytes: SharedBytes?, patience: Duration?
    ) async throws -> SharedRender {
        let cached = { self.caches.results.value(for: key).map { Render(result: $0) } }
        let (render, origin) = try await renders.value(for: key, cached: cached) {
            try await self.render(key, record, bytes: bytes, patience: patience)
        }
        return SharedRender(render: render, origin: origin)
    }

    private func render(
        _ key: ResultKey, _ record: SourceRecord, bytes: SharedBytes?, patience: Duration?
    ) async throws -> Render {
        if let result = await caches.restoredResult(for: key, of: record) {
            return Render(result: result, isFromDisk: true)
        }
        return try await inLane(price(of: key, record, bytes: bytes), patience: patience) { patience in
            try await renderInTurn(key, record, bytes: bytes, patience: patience)
        }
    }

    private func renderInTurn(
        _ key: ResultKey, _ record: SourceRecord, bytes: SharedBytes?, patience: Duration
    ) async throws -> Render {
        let isDecoded = caches.decoded.contains(key.decodeKey) || decodes.contains(key.decodeKey)
        let room = try await reserveMemory(for: key, of: record, file: bytes, isDecoded: isDecoded)
        defer { room.render.release() }
        let start = timekeeper.now
        let (image, origin) = try await decodedImage(
            key.decodeKey, record, bytes: bytes, patience: patience, room: room.decode)
        let decoded = timekeeper.now
        let result = try await render(
            image, key.plan, record, patience: origin == .cache ? patience : nil)
        let end = timekeeper.now
        let isStored = caches.keep(result, for: key, of: record)
        return Render(
            result: result, isStored: isStored,
            decoded: CacheLayerStatus(
                .decoded, origin == .cache ? .hit : .uriMiss, isCollapsed: origin == .joined,
                isStored: origin == .started && caches.decoded.contains(key.decodeKey)),
            timings: (origin == .cache ? [] : [StepTiming("decode", decoded - start)])
                + [StepTiming("render", end - decoded)])
    }

    /// Waits without a bound where the decode was done for it.
    private func render(
        _ image: DecodedImage, _ plan: RenderPlan, _ record: SourceRecord, patience: Duration? = nil
    ) async throws -> RenderedImage {
        let start = timekeeper.now
        let result = try await lanes.workers(for: plan.timePrice(of: record.header)).run(
            priority: .finishing, timeLimit: configuration.decodeTimeout, patience: patience
        ) { [codec] token in
            RenderedImage(
                try ImageRenderer.render(image, plan: plan, token: token, codec: codec),
                isIncomplete: image.isIncomplete)
        }
        metrics.rendered(plan.format, in: timekeeper.now - start)
        return result
    }

    private func decodedImage(
        _ key: DecodeKey, _ record: SourceRecord, bytes: SharedBytes?, patience: Duration, room: MemoryReservation?
    ) async throws -> (value: DecodedImage, origin: SharedTasks<DecodeKey, DecodedImage>.Origin) {
        try await decodes.value(for: key, cached: { self.caches.decoded.value(for: key) }) {
            guard let bytes = bytes ?? self.caches.bytes(of: record) else { throw PipelineError.sourceNeeded }
            let image = try await self.decode(key, record, bytes, patience: patience, room: room)
            self.caches.keep(image, for: key, of: record)
            return image
        }
    }

    private func decode(
        _ key: DecodeKey, _ record: SourceRecord, _ bytes: SharedBytes, patience: Duration, room: MemoryReservation?
    ) async throws -> DecodedImage {
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
                // only a later frame is broken, or animating is too much, the rest of it is.
                if key.plan.isFirstPage, error.isFaultOfSource { caches.removeAll(from: key.source) }
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
        return thumbnail(shared.render.result, record, isFromCache: isFromCache, status: status, timings: timings)
    }

    private func thumbnail(
        _ result: RenderedImage, _ record: SourceRecord, isFromCache: Bool, status: [CacheLayerStatus],
        timings: [StepTiming]
    ) -> Thumbnail {
        var freshness = Freshness(
            record.freshness, at: timekeeper.secondsSince1970, isFromCache: isFromCache,
            bounds: configuration.clientMaxAge)
        if result.isIncomplete { freshness.limit(to: Freshness.longestOfIncomplete) }
        return Thumbnail(
            image: result.image, isIncomplete: result.isIncomplete, eTag: result.eTag,
            lastModified: record.head.lastModified, freshness: freshness, cacheStatus: status, timings: timings,
            place: status == Self.resultHit ? result.place : nil)
    }
}
