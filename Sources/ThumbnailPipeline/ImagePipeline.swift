package import Coordination
package import Downloading
import HTTPTypes
import ImageCaching
package import Imaging

/// Turns a thumbnail request into an encoded image, doing each piece of work at most once at a time.
///
/// The steps, in order: result cache · join an identical render · decoded cache · join an identical decode · source cache ·
/// join or start a download. Each caller waits for its download itself, under its own receipt; decodes and renders belong to
/// nobody and run on the worker threads, never while a download is waited for.
package final class ImagePipeline: ThumbnailServing {
    let downloader: ImageDownloader
    let caches: PipelineCaches
    let workers: WorkerPool
    private let configuration: PipelineConfiguration
    private let timekeeper: any Timekeeper
    private let metrics: PipelineMetrics
    let decodes = SharedTasks<DecodeKey, DecodedImage>()
    let renders = SharedTasks<ResultKey, Render>()
    private let identities = BoundedMemo<String, SourceIdentity>(capacity: 8_192)
    private static let resultHit = [CacheLayerStatus(.result, .hit)]

    /// A pipeline over these parts; `caches` is also the cache that `downloader` asks.
    package init(
        configuration: PipelineConfiguration, downloader: ImageDownloader, caches: PipelineCaches, workers: WorkerPool,
        metrics: PipelineMetrics, timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.downloader = downloader
        self.caches = caches
        self.workers = workers
        self.metrics = metrics
        self.timekeeper = timekeeper
    }

    /// The thumbnail if the result cache has it and its source is fresh.
    package func cachedThumbnail(for recurring: RecurringRequest) -> Thumbnail? {
        let request = recurring.request
        guard let identity = try? recurring.identity ?? identity(of: request.source),
            let record = caches.record(for: identity),
            let key = try? recurring.resultKey(for: record, make: { try resultKey(for: request, record) }),
            let result = caches.results.value(for: key, countsMiss: false)
        else { return nil }
        return thumbnail(result, record, isFromCache: true, status: Self.resultHit, timings: [])
    }

    /// The thumbnail, by the shortest way there is.
    package func thumbnail(for request: ThumbnailRequest, receipt: String) async throws -> Thumbnail {
        let identity = try identity(of: request.source)
        if let record = caches.record(for: identity) {
            let key = try resultKey(for: request, record)
            if isWithinReach(key), let render = try await renderWithoutSource(key, record) {
                return thumbnail(render, record, isFromCache: true, fetch: nil)
            }
        }
        let fetch = try await fetch(identity, receipt: receipt)
        let key = try resultKey(for: request, fetch.record)
        let render = try await renderedImage(key, fetch.record, source: fetch.source)
        return thumbnail(render, fetch.record, isFromCache: fetch.status.outcome == .hit, fetch: fetch)
    }

    /// A plain picture in the size of the request's box; 1×1 where the request names no side.
    package func placeholder(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage {
        let size = request.options.placeholderSize
        let format = request.format.format(
            own: .png, hasAlpha: true, automatic: configuration.automaticFormats)
        guard max(size.width, size.height) <= format.maximumSide,
            size.area <= configuration.limits.maximumOutputPixels
        else { throw PipelineError.placeholderTooLarge }
        return try await workers.run(priority: .finishing) { _ in
            try ImageRenderer.placeholder(color: color, size: size, format: format)
        }
    }

    /// The identity of a source as a client names it.
    func identity(of source: String) throws -> SourceIdentity {
        if let known = identities[source] { return known }
        let identity = SourceIdentity(url: try SourceURL(parsing: source), originName: nil)
        identities[source] = identity
        return identity
    }

    private func resultKey(for request: ThumbnailRequest, _ record: SourceRecord) throws -> ResultKey {
        let format = request.format.format(
            own: record.header.format, hasAlpha: record.header.hasAlpha, automatic: configuration.automaticFormats)
        let plan = try RenderPlan(
            options: request.options, format: format, source: record.header, limits: configuration.limits)
        return ResultKey(source: record.identity, validator: record.validator, plan: plan)
    }

    /// Whether the result can be had, as things stand, without the source's bytes.
    private func isWithinReach(_ key: ResultKey) -> Bool {
        caches.results.contains(key) || renders.contains(key) || caches.decoded.contains(key.decodeKey)
            || decodes.contains(key.decodeKey)
    }

    private func fetch(_ identity: SourceIdentity, receipt: String) async throws -> Fetch {
        let start = timekeeper.now
        let isStale = caches.isStale(identity)
        let delivery = try await downloader.download(
            SourceRequest(identity: identity), receipt: receipt, deadline: start + configuration.requestTimeout)
        let record = try SourceRecord(of: delivery.source)
        return Fetch(
            delivery: delivery, record: record, isStale: isStale, isStored: caches.isStored(record),
            duration: timekeeper.now - start)
    }

    /// Renders from what is in memory; nil when that was evicted meanwhile.
    private func renderWithoutSource(_ key: ResultKey, _ record: SourceRecord) async throws -> SharedRender? {
        do {
            return try await shareRender(key, record, source: nil)
        } catch PipelineError.sourceNeeded {
            return nil
        }
    }

    /// Renders with the source at hand; work that others began without it, and lost, is begun again.
    private func renderedImage(_ key: ResultKey, _ record: SourceRecord, source: Source) async throws -> SharedRender {
        while true {
            do {
                return try await shareRender(key, record, source: source)
            } catch PipelineError.sourceNeeded {
                try Task.checkCancellation()
            }
        }
    }

    private func shareRender(_ key: ResultKey, _ record: SourceRecord, source: Source?) async throws -> SharedRender {
        let cached = { self.caches.results.value(for: key).map { Render(result: $0) } }
        let (render, origin) = try await renders.value(for: key, cached: cached) {
            try await self.render(key, record, source: source)
        }
        return SharedRender(render: render, origin: origin)
    }

    private func render(_ key: ResultKey, _ record: SourceRecord, source: Source?) async throws -> Render {
        let start = timekeeper.now
        let (image, origin) = try await decodedImage(key.decodeKey, record, source: source)
        let decoded = timekeeper.now
        let result = try await workers.run(priority: .finishing, timeLimit: configuration.decodeTimeout) { token in
            RenderedImage(try ImageRenderer.render(image, plan: key.plan, token: token))
        }
        let end = timekeeper.now
        metrics.rendered(key.plan.format, in: end - decoded)
        let isStored = caches.keep(result, for: key, of: record)
        return Render(
            result: result, isStored: isStored,
            decoded: CacheLayerStatus(
                .decoded, origin == .cache ? .hit : .uriMiss, isCollapsed: origin == .joined,
                isStored: origin == .started && caches.decoded.contains(key.decodeKey)),
            timings: (origin == .cache ? [] : [StepTiming("decode", decoded - start)])
                + [StepTiming("render", end - decoded)])
    }

    private func decodedImage(
        _ key: DecodeKey, _ record: SourceRecord, source: Source?
    ) async throws -> (value: DecodedImage, origin: SharedTasks<DecodeKey, DecodedImage>.Origin) {
        try await decodes.value(for: key, cached: { self.caches.decoded.value(for: key) }) {
            guard let source = source ?? self.caches.source(for: key.source), source.validator == key.validator else {
                throw PipelineError.sourceNeeded
            }
            return try await self.decode(key, record, source)
        }
    }

    private func decode(_ key: DecodeKey, _ record: SourceRecord, _ source: Source) async throws -> DecodedImage {
        let limits = configuration.limits
        do {
            let start = timekeeper.now
            let image = try await workers.run(timeLimit: configuration.decodeTimeout) { token in
                try ImageDecoder.decode(
                    source.bytes, header: record.header, plan: key.plan, limits: limits, token: token)
            }
            metrics.decoded(record.header.format, in: timekeeper.now - start)
            caches.keep(image, for: key, of: record)
            return image
        } catch let error as ImagingError {
            // What cannot be decoded is no picture worth keeping: the next request asks the origin again.
            if caches.isCurrent(record) { caches.removeAll(from: key.source) }
            throw error
        }
    }

    private func thumbnail(
        _ shared: SharedRender, _ record: SourceRecord, isFromCache: Bool, fetch: Fetch?
    ) -> Thumbnail {
        var status = [shared.resultStatus]
        if shared.origin == .started, let decoded = shared.render.decoded { status.append(decoded) }
        if let fetch { status.append(fetch.status) }
        let timings = (fetch?.timings ?? []) + (shared.origin == .started ? shared.render.timings : [])
        return thumbnail(shared.render.result, record, isFromCache: isFromCache, status: status, timings: timings)
    }

    private func thumbnail(
        _ result: RenderedImage, _ record: SourceRecord, isFromCache: Bool, status: [CacheLayerStatus],
        timings: [StepTiming]
    ) -> Thumbnail {
        let freshness = record.freshness
        let age = freshness.age(at: timekeeper.secondsSince1970)
        return Thumbnail(
            image: result.image, eTag: result.eTag, lastModified: record.lastModified,
            freshness: Freshness(
                storability: freshness.storability, lifetime: freshness.lifetime,
                age: isFromCache || age > 0 ? age : nil),
            cacheStatus: status, timings: timings, place: status == Self.resultHit ? result.place : nil)
    }
}
