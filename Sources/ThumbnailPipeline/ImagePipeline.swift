package import Coordination
package import Downloading
import HTTPTypes
package import Imaging
package import Text
package import ThumbnailTypes

/// Turns a thumbnail request into an encoded image, and never does the same work twice at a time.
///
/// The steps, in order: result cache · join an identical render · decoded cache · join an identical decode · source
/// cache · join or start a download. Each caller waits for its downloads itself, under its own receipt. Decodes and
/// renders belong to no request and run on worker threads, never while waiting for a download. A request with several
/// sources performs each step for all of them.
package final class ImagePipeline: ThumbnailServing {
    let downloader: ImageDownloader
    let caches: CacheLayers
    let resources: WorkResources
    let broken: BrokenSources
    let placeholders: PlaceholderRenderer
    let maker: ThumbnailRenderer
    let fetcher: SourceFetcher
    let estimator: WorkEstimator
    let looks = SharedLooks()
    let admission: MissAdmission
    let configuration: PipelineConfiguration
    let timekeeper: any Timekeeper

    /// Creates a pipeline from its parts; `caches` is also the cache used by `downloader`.
    package init(
        configuration: PipelineConfiguration, downloader: ImageDownloader, caches: CacheLayers,
        resources: WorkResources, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.downloader = downloader
        self.caches = caches
        self.resources = resources
        self.timekeeper = timekeeper
        let lanes = resources.lanes
        let memory = WorkMemory(budget: resources.budget)
        admission = MissAdmission(lanes: lanes, maximumDelay: configuration.maximumQueueDelay)
        let scheduler = WorkScheduler(lanes: lanes, admission: admission)
        broken = BrokenSources(timeLimit: configuration.failureMemory, timekeeper: timekeeper)
        fetcher = SourceFetcher(
            downloader: downloader, caches: caches, broken: broken, timeLimit: configuration.requestTimeout,
            timekeeper: timekeeper)
        let decoder = SourceDecoder(
            configuration: configuration, resources: resources, caches: caches, broken: broken, timekeeper: timekeeper)
        estimator = WorkEstimator(caches: caches, decodes: decoder.shared)
        maker = ThumbnailRenderer(
            configuration: configuration, resources: resources, caches: caches, decoder: decoder,
            scheduler: scheduler, memory: memory, estimator: estimator, timekeeper: timekeeper)
        placeholders = PlaceholderRenderer(
            configuration: configuration, scheduler: scheduler, memory: memory, codec: resources.codec)
    }

    package func resolved(_ request: ThumbnailRequest) -> RecurringRequest {
        RecurringRequest(request, sources: sources(of: request) { try downloader.identity(of: request.source) })
    }

    /// Resolves a request's sources; the image has this identity.
    func sources(
        of request: ThumbnailRequest, image: () throws -> SourceIdentity
    ) -> Result<PerSource<SourceIdentity>, any Error> {
        Result {
            PerSource(
                try image(),
                additional: try request.additional.map { named in
                    try AdditionalSourceError.attributing(to: named.role) {
                        if let name = named.fileName { return SourceIdentity(given: name) }
                        return try downloader.identity(of: named.source)
                    }
                })
        }
    }

    /// Returns the thumbnail if it is in the result cache and its sources are fresh.
    package func cachedThumbnail(for recurring: RecurringRequest) -> Thumbnail? {
        guard case .success(let sources) = recurring.sources, let records = caches.records(for: sources) else {
            return nil
        }
        guard let key = try? resultKey(for: recurring, records),
            let result = caches.memory.results.value(for: key, countsMiss: false)
        else { return nil }
        return thumbnail(result, of: records)
    }

    /// Returns the remembered key of the request's result.
    func resultKey(for recurring: RecurringRequest, _ records: PerSource<SourceRecord>) throws -> ResultKey {
        if let last = recurring.last, records.areSame(as: last.serials) { return last.key }
        let key = try resultKey(for: recurring.request, records)
        recurring.remember(key, for: records)
        return key
    }

    package func noteTags(of recurring: RecurringRequest, by client: ClientNetwork?) {
        guard !recurring.request.tags.isEmpty, case .success(let sources) = recurring.sources else { return }
        caches.note(recurring.request.tags, of: sources.image, by: client)
    }

    /// Changes with the caches behind ``cachedThumbnail(for:)``.
    package var generation: Int { caches.memory.generation }

    package func countRepeatedHit() { caches.memory.results.countRepeatedHit() }

    /// Returns a rejection if the worker threads are overloaded, unless this request needs none of them, or its result
    /// may be on the disk.
    ///
    /// The thumbnail of an unknown source counts as small.
    package func refusal(of recurring: RecurringRequest) -> (any ServiceError)? {
        let isAnyBusy = WorkLanes.Lane.allCases.contains { admission.refusal(in: $0) != nil }
        guard isAnyBusy, !caches.hasSlowerResults else { return nil }
        var lane = WorkLanes.Lane.small
        if let sources = try? recurring.sources.get(),
            let records = sources.mapValues(caches.knownRecord(for:)).complete(),
            let key = try? resultKey(for: recurring.request, records)
        {
            if estimator.needsNoWorker(key) { return nil }
            lane = estimator.cost(of: key, records).lane
        }
        guard let refusal = admission.refusal(in: lane) else { return nil }
        resources.metrics.refused()
        return refusal
    }

    package func mayFetch(_ url: ExactText) -> Bool { downloader.mayFetch(url) }

    package func isAllowedByName(_ url: ExactText) -> Bool { downloader.isAllowedByName(url) }

    package func sharedLook(for recurring: RecurringRequest) -> (any SharedLooking)? {
        SharedLook(for: recurring, in: self)
    }

    /// Returns the thumbnail in the fewest possible steps.
    package func thumbnail(for call: Call) async throws -> Thumbnail {
        let (request, sources) = (call.request, try call.sources)
        if call.directives.noStore { return try await unstoredThumbnail(for: call) }
        return try await caches.serving(sources.image, under: request.tags, by: call.client) {
            try await storedThumbnail(for: call, sources)
        }
    }

    private func storedThumbnail(for call: Call, _ sources: PerSource<SourceIdentity>) async throws -> Thumbnail {
        let directives = call.directives
        var known: PerSource<SourceRecord?>
        known = await caches.restoredRecords(for: sources, call.allowances, after: call.look)
        if let opened = call.opened { known.image = opened.record }
        if !directives.noCache, !directives.onlyIfCached { try throwRememberedFailure(of: call, known) }
        var needsBytes = sources.mapValues { _ in true }
        var lane = WorkLanes.Lane.small
        if let records = known.complete() {
            let reuse = records.mapValues { downloader.reuse(of: $0.freshness, for: directives) }
            let isUsable = !reuse.contains(.needsValidation)
            // A result of stale sources is usable if their origins confirm them.
            let recurring = call.recurring
            if let key = isUsable ? try resultKey(for: recurring, records) : try? resultKey(for: recurring, records) {
                if isUsable {
                    if call.opened != nil, !estimator.needsNoWorker(key) {
                        try admit(call, to: estimator.cost(of: key, records).lane)
                    }
                    let job = RenderJob(
                        key, for: call, records: records,
                        queueTimeout: call.opened == nil ? nil : configuration.requestTimeout)
                    if estimator.isWithinReach(key) || caches.hasSlowerResults,
                        let render = try await maker.resultFromMemory(job)
                    {
                        if !directives.onlyIfCached { revalidate(sources, reuse) }
                        return thumbnail(render, of: records)
                    }
                } else if !estimator.isWithinReach(key) {
                    _ = await caches.restoredResult(for: key, of: records, call.allowances, after: call.look)
                }
                needsBytes = estimator.bytesNeeded(for: key)
                lane = estimator.cost(of: key, records).lane
            }
        }
        // Checked again, because many requests may have arrived before the first of them was seen in the queue.
        if needsBytes.contains(true) { try admit(call, to: lane) }
        return try await fetchedThumbnail(for: call, needsBytes: needsBytes)
    }

    private func admit(_ call: Call, to lane: WorkLanes.Lane) throws(WorkerPool.Full) {
        guard let opened = call.opened else { return try admission.admit(to: lane) }
        try opened.admit { () throws(WorkerPool.Full) in try admission.admit(to: lane) }
    }

    package func placeholder(_ placeholder: Placeholder) async throws -> EncodedImage {
        try await placeholders.image(placeholder)
    }

    func resultKey(for request: ThumbnailRequest, _ records: PerSource<SourceRecord>) throws -> ResultKey {
        try ResultKey(for: request, of: records, by: configuration)
    }

    /// Throws the error of an earlier request if the same decode of the same source failed recently.
    private func throwRememberedFailure(of call: Call, _ known: PerSource<SourceRecord?>) throws {
        let roles = call.request.roles
        for (index, identity) in try call.sources.enumerated() {
            let failure = broken.failure(of: identity, known: known[index]) { record in
                var records = known
                if index == 0 { records.image = record } else { records.additional[index - 1] = record }
                guard let records = records.complete() else { throw PipelineError.sourceNeeded }
                return try resultKey(for: call.request, records).decodeKeys[index].plan
            }
            if let failure { try AdditionalSourceError.attributing(to: roles[index]) { throw failure } }
        }
    }

    private func revalidate(_ sources: PerSource<SourceIdentity>, _ reuse: PerSource<SourceReuse>) {
        for (identity, reuse) in zip(sources, reuse) where reuse == .usableWhileRevalidating {
            downloader.revalidate(identity)
        }
    }

    private func fetchedThumbnail(for call: Call, needsBytes: PerSource<Bool>) async throws -> Thumbnail {
        var call = call
        // Another instance may render the result during the fetch.
        call.look = nil
        var fetch = try await fetcher.fetch(for: call, needsBytes: needsBytes)
        while true {
            if let fetch {
                let (records, bytes) = (fetch.records, fetch.bytes)
                let key = try resultKey(for: call.request, records)
                let job = RenderJob(key, for: call, records: records, bytes: bytes, queueTimeout: fetch.queueTimeout)
                let hasAllBytes = bytes.allSatisfy { $0 != nil }
                let render = hasAllBytes ? try await maker.result(job) : try await maker.resultFromMemory(job)
                if let render { return thumbnail(render, of: records, fetch) }
            }
            // The sources are unchanged, but the result has been evicted meanwhile.
            fetch = try await fetcher.fetch(for: call.again, needsBytes: needsBytes.mapValues { _ in true })
        }
    }

    /// Renders a thumbnail without reading or writing caches.
    private func unstoredThumbnail(for call: Call) async throws -> Thumbnail {
        try admission.admit(to: .small)
        guard let fetch = try await fetcher.fetch(for: call, needsBytes: call.sources.mapValues { _ in true })
        else { throw PipelineError.sourceNeeded }
        let key = try resultKey(for: call.request, fetch.records)
        let render = try await maker.unsharedResult(
            RenderJob(key, for: call, records: fetch.records, bytes: fetch.bytes, queueTimeout: fetch.queueTimeout))
        return thumbnail(render, of: fetch.records, fetch)
    }

    /// Returns the thumbnail for a hit of the result cache without any other lookups.
    func thumbnail(_ hit: RenderedImage, of records: PerSource<SourceRecord>) -> Thumbnail {
        Thumbnail(hit, of: records, at: timekeeper.secondsSince1970, bounds: configuration.clientMaxAge)
    }

    /// Returns the thumbnail for a render, after the caller's fetch of its sources; `fetch` is nil if there was none.
    func thumbnail(_ render: Render, of records: PerSource<SourceRecord>, _ fetch: Fetch? = nil) -> Thumbnail {
        let now = timekeeper.secondsSince1970
        var status = render.status
        if let fetch {
            status.append(fetch.status)
        } else if let timeToLive = records.map({ $0.freshness.remainingLifetime(at: now) }).min(), timeToLive <= 0 {
            status.append(CacheLayerStatus(.source, .hit, timeToLive: timeToLive))
        }
        return Thumbnail(
            render.result, of: records, isFromCache: fetch?.isFromCache, status: status,
            timings: (fetch?.timings ?? []) + (render.participation == .started ? render.timings : []), at: now,
            bounds: configuration.clientMaxAge)
    }
}
