package import Coordination
package import Downloading
package import HTTPTypes
package import Recipes
package import Text
package import ThumbnailTypes

/// Turns a request into an encoded image, and shares identical concurrent work.
///
/// The steps: result cache · join an identical render · decoded cache · join an identical decode · source cache · join
/// or start a download. Each caller waits for its downloads under its own receipt. Decodes and renders are shared by
/// requests; they run on worker threads and never wait for a download.
package final class ImagePipeline: ThumbnailServing {
    let downloader: ImageDownloader
    let caches: CacheLayers
    let configuration: PipelineConfiguration
    let timekeeper: any Timekeeper
    /// Rules of a tenant or an earlier configuration; nil uses the downloader's current ones.
    private let pinnedRules: DownloadRules?
    private let parts: PipelineParts

    var resources: WorkResources { parts.resources }
    var failedDecodes: FailedDecodes { parts.failedDecodes }
    var placeholders: PlaceholderRenderer { parts.placeholders }
    var renderer: ThumbnailRenderer { parts.renderer }
    var fetcher: SourceFetcher { parts.fetcher }
    var estimator: WorkEstimator { parts.estimator }
    var lookupLocks: LookupLocks { parts.lookupLocks }
    var admission: MissAdmission { parts.admission }

    package init(
        configuration: PipelineConfiguration, downloader: ImageDownloader, caches: CacheLayers,
        resources: WorkResources, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.downloader = downloader
        self.caches = caches
        self.timekeeper = timekeeper
        pinnedRules = nil
        parts = PipelineParts(
            configuration: configuration, downloader: downloader, caches: caches, resources: resources,
            timekeeper: timekeeper)
    }

    /// Returns a pipeline with the same parts that resolves sources by `rules` even after a reload.
    package func pinned(to rules: DownloadRules) -> ImagePipeline { ImagePipeline(self, pinnedTo: rules) }

    private init(_ other: ImagePipeline, pinnedTo rules: DownloadRules) {
        downloader = other.downloader
        caches = other.caches
        parts = other.parts
        configuration = other.configuration
        timekeeper = other.timekeeper
        pinnedRules = rules
    }

    package var findsFaces: Bool { resources.faceDetector != nil }

    /// Resizes the caches in memory, and evicts entries that no longer fit.
    package func setCacheBounds(_ configuration: PipelineConfiguration) { caches.setBounds(configuration) }

    var rules: DownloadRules { pinnedRules ?? downloader.rules }

    package func resolved(_ request: Request) -> ResolvedRequest {
        ResolvedRequest(request, sources: sources(of: request) { try rules.identity(of: request.source) })
    }

    func sources(
        of request: Request, image: () throws -> SourceIdentity
    ) -> Result<PerSource<SourceIdentity>, any Error> {
        Result {
            PerSource(
                try image(),
                additional: try request.additional.map { named in
                    try AdditionalSourceError.attributing(to: named.role) {
                        if let name = named.fileName { return SourceIdentity(uploaded: name) }
                        return try rules.identity(of: named.source)
                    }
                })
        }
    }

    package func cachedThumbnail(for resolved: ResolvedRequest) -> Thumbnail? {
        guard case .success(let sources) = resolved.sources, let records = caches.freshRecords(for: sources),
            let key = try? resultKey(for: resolved, records: records),
            let result = caches.result(for: key, countsMiss: false)
        else { return nil }
        return thumbnail(cached: result, of: records)
    }

    func resultKey(for resolved: ResolvedRequest, records: PerSource<SourceRecord>) throws -> ResultKey {
        try resolved.key(of: records) { try ResultKey(for: $0, of: records, by: configuration) }
    }

    package func recordTags(of resolved: ResolvedRequest, by client: ClientNetwork?) {
        guard !resolved.request.tags.isEmpty, case .success(let sources) = resolved.sources else { return }
        caches.recordTags(resolved.request.tags, of: sources.main, by: client)
    }

    package var cacheVersion: Int { caches.memory.cacheVersion }

    package func countRepeatedHit() { caches.memory.results.countRepeatedHit() }

    /// Returns the 503 error for a miss whose queue wait would be too long; nil if it may proceed.
    ///
    /// Proceeds if a layer below memory may have the result. An unknown source counts as small work.
    package func rejection(for job: Job) -> (any ServiceError)? {
        let resolved = job.resolved
        let isAnyBusy = WorkLanes.Lane.allCases.contains { admission.rejection(in: $0, for: job.flow) != nil }
        guard isAnyBusy, !caches.hasResultsBelowMemory else { return nil }
        var lane = WorkLanes.Lane.small
        if let sources = try? resolved.sources.get(),
            let records = sources.mapValues(caches.storedRecord(for:)).unwrapped(),
            let key = try? resultKey(for: resolved, records: records)
        {
            if estimator.needsNoWorker(key) { return nil }
            lane = estimator.cost(of: key, from: records).lane
        }
        guard let rejection = admission.rejection(in: lane, for: job.flow) else { return nil }
        resources.metrics.recordRejection()
        return rejection
    }

    package func mayFetch(_ url: ExactText) -> Bool { rules.mayFetch(url) }

    package func isAllowedByName(_ url: ExactText) -> Bool { rules.isAllowedByName(url) }

    package func pendingLookup(for resolved: ResolvedRequest) -> (any PendingLookup)? {
        EventThreadLookup(for: resolved, in: self)
    }

    package func thumbnail(for job: Job) async throws -> Thumbnail {
        let sources = try job.sources
        if let rejection = job.bill?.workRejection {
            guard let thumbnail = try await storedThumbnail(for: job, of: sources) else { throw rejection }
            return thumbnail
        }
        if job.directives.noStore { return try await uncachedThumbnail(for: job) }
        return try await caches.recordingTags(sources.main, under: job.request.tags, by: job.tagClient) {
            try await cacheableThumbnail(for: job, of: sources)
        }
    }

    /// Returns a cached result of fresh sources from any layer, without fetching or rendering.
    private func storedThumbnail(for job: Job, of identities: PerSource<SourceIdentity>) async throws -> Thumbnail? {
        guard !job.directives.noStore, !job.directives.noCache,
            let records = try await knownRecords(for: job, of: identities).unwrapped(),
            records.allSatisfy({ downloader.reuse(of: $0.freshness, for: job.directives) == .usable })
        else { return nil }
        let key = try resultKey(for: job.resolved, records: records)
        if let result = caches.result(for: key) { return thumbnail(cached: result, of: records) }
        let lookup = await caches.lookUpResult(for: key, of: records, waits: job.waits, after: job.earlierLookup)
        return RenderedImage(lookup).map { thumbnail(cached: $0, of: records) }
    }

    /// Fetches and renders for a request with `no-store`.
    private func uncachedThumbnail(for job: Job) async throws -> Thumbnail {
        try admission.admit(to: .small, for: job.flow)
        let sources = try await fetcher.fetch(for: job, needsBytes: job.sources.mapValues { _ in true })
        let key = try resultKey(for: job.resolved, records: sources.records)
        let task = RenderTask(key, from: sources, for: job, imagesInUse: ImagesInUse())
        return thumbnail(rendered: try await renderer.uncachedResult(task), from: sources)
    }

    private func cacheableThumbnail(for job: Job, of identities: PerSource<SourceIdentity>) async throws -> Thumbnail {
        var needsBytes = identities.mapValues { _ in true }
        var lane = WorkLanes.Lane.small
        if let records = try await knownRecords(for: job, of: identities).unwrapped() {
            let reuse = records.mapValues { downloader.reuse(of: $0.freshness, for: job.directives) }
            let key: ResultKey?
            if reuse.contains(.needsValidation) {
                key = await keyToValidate(for: job, records: records)
            } else {
                let usable = try resultKey(for: job.resolved, records: records)
                if let thumbnail = try await thumbnailFromCaches(for: job, key: usable, records: records) {
                    if !job.directives.onlyIfCached { revalidate(identities, reuse: reuse) }
                    return thumbnail
                }
                key = usable
            }
            if let key {
                needsBytes = estimator.sourcesNeedingBytes(for: key)
                lane = estimator.cost(of: key, from: records).lane
            }
        }
        // Check again: many requests may have passed the first check before one of them entered the queue.
        if needsBytes.contains(true) { try admit(job, to: lane) }
        return try await thumbnailFromOrigins(for: job, needsBytes: needsBytes)
    }

    /// Returns fresh and stale records; throws the error of an earlier request if the same work failed recently.
    private func knownRecords(
        for job: Job, of identities: PerSource<SourceIdentity>
    ) async throws -> PerSource<SourceRecord?> {
        var stored = await caches.lookUpRecords(for: identities, waits: job.waits, after: job.earlierLookup)
        if let opened = job.opened { stored.main = opened.record }
        if !job.directives.noCache, !job.directives.onlyIfCached { try throwRememberedFailure(of: job, stored: stored) }
        return stored
    }

    /// Returns the key of the result that is valid if the origins confirm the stale sources, and loads it into memory.
    private func keyToValidate(for job: Job, records: PerSource<SourceRecord>) async -> ResultKey? {
        guard let key = try? resultKey(for: job.resolved, records: records) else { return nil }
        if !estimator.isObtainableWithoutBytes(key) {
            _ = await caches.lookUpResult(for: key, of: records, waits: job.waits, after: job.earlierLookup)
        }
        return key
    }

    /// Returns a cached result, or renders cached pixels; nil if source bytes are needed.
    private func thumbnailFromCaches(
        for job: Job, key: ResultKey, records: PerSource<SourceRecord>
    ) async throws -> Thumbnail? {
        var sources = records.mapValues { AvailableSource($0) }
        if job.opened != nil {
            sources.main.timeLeft = configuration.requestTimeout
            if !estimator.needsNoWorker(key) { try admit(job, to: estimator.cost(of: key, from: records).lane) }
        }
        guard estimator.isObtainableWithoutBytes(key) || caches.hasResultsBelowMemory else { return nil }
        let result = try await renderer.result(RenderTask(key, from: sources, for: job))
        return result.map { thumbnail(cached: $0, of: records) }
    }

    private func thumbnailFromOrigins(for job: Job, needsBytes: PerSource<Bool>) async throws -> Thumbnail {
        var job = job
        // Another instance may render the result during the fetch.
        job.earlierLookup = nil
        let sources = try await fetcher.fetch(for: job, needsBytes: needsBytes)
        let key = try resultKey(for: job.resolved, records: sources.records)
        guard let result = try await renderer.result(RenderTask(key, from: sources, for: job)) else {
            // The sources are unchanged and came without bytes, but the result has been evicted meanwhile.
            return try await thumbnailFromOrigins(for: job.retry, needsBytes: needsBytes.mapValues { _ in true })
        }
        return thumbnail(rendered: result, from: sources)
    }

    private func admit(_ job: Job, to lane: WorkLanes.Lane) throws(WorkerPool.Full) {
        guard let opened = job.opened else { return try admission.admit(to: lane, for: job.flow) }
        try opened.admit { () throws(WorkerPool.Full) in try admission.admit(to: lane, for: job.flow) }
    }

    package func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts {
        try await FactsReader(pipeline: self).facts(request, for: job)
    }

    package func placeholder(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage {
        try await placeholders.image(placeholder, bill: bill)
    }

    private func throwRememberedFailure(of job: Job, stored: PerSource<SourceRecord?>) throws {
        let roles = job.request.roles
        for (index, identity) in try job.sources.enumerated() {
            let failure = failedDecodes.failure(of: identity, stored: stored[index]) { record in
                var records = stored
                records[index] = record
                let key = records.unwrapped().flatMap { try? resultKey(for: job.resolved, records: $0) }
                return key?.decodeKeys[index].plan
            }
            if let failure { try AdditionalSourceError.attributing(to: roles[index]) { throw failure } }
        }
    }

    private func revalidate(_ sources: PerSource<SourceIdentity>, reuse: PerSource<SourceReuse>) {
        for (identity, reuse) in zip(sources, reuse) where reuse == .usableWhileRevalidating {
            downloader.revalidate(identity, scan: fetcher.scan(for: identity))
        }
    }

    /// Reports in `Cache-Status` if a source is stale.
    func thumbnail(cached result: RenderedImage, of records: PerSource<SourceRecord>) -> Thumbnail {
        let now = timekeeper.secondsSince1970
        var result = result
        let timeToLive = records.reduce(Int.max) { min($0, $1.freshness.remainingLifetime(at: now)) }
        if timeToLive <= 0 {
            result.cacheStatus.append(CacheLayerStatus(.source, outcome: .hit, timeToLive: timeToLive))
        }
        return Thumbnail(result, of: records, at: now, bounds: configuration.clientMaxAge)
    }

    private func thumbnail(rendered result: RenderedImage, from sources: PerSource<AvailableSource>) -> Thumbnail {
        let source = sources.reported
        return Thumbnail(
            result.with(result.cacheStatus + [source.status], timings: source.timings + result.timings),
            of: sources.records, isFromCache: sources.mapValues(\.isFromCache), at: timekeeper.secondsSince1970,
            bounds: configuration.clientMaxAge)
    }
}
