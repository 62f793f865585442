import Coordination
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import Text
import ThumbnailTypes

struct FactsReader: Sendable {
    let pipeline: ImagePipeline

    /// Returns the requested facts; decodes pixels only for facts that need them.
    ///
    /// Reports sizes above the limits. A truncated file is an error only if its pixels are needed.
    func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts {
        if let opened = job.opened {
            return try await factsOfOpened(opened, for: request, source: AvailableSource(opened.record), job: job)
        }
        guard !request.features.isEmpty || request.includesFaces else {
            let source = try await describedSource(job)
            try job.request.check(byteCount: source.record.byteCount)
            return headerFacts(of: source)
        }
        let source = try await decodableSource(job)
        try job.request.check(byteCount: source.record.byteCount)
        // Use the fetched version, even if the caches already have another one.
        if let opened = try pipeline.open(source, directives: job.directives) {
            defer { pipeline.close(opened) }
            return try await factsOfOpened(opened, for: request, source: source, job: job)
        }
        var validated = job
        validated.directives.noCache = false
        validated.directives.maxAge = nil
        validated.directives.minFresh = nil
        if let facts = try await factsOfCached(source, for: request, job: validated) { return facts }
        // The source has changed between the header and the pixels.
        return try await facts(request, for: job.retry)
    }

    /// Returns the facts of a cached source; nil if it changes between the header and the pixels.
    private func factsOfCached(
        _ source: AvailableSource, for request: FactsRequest, job: Job
    ) async throws -> SourceFacts? {
        guard pipeline.caches.isCurrent(source.record) else { return nil }
        let sources = PerSource(source.record.identity)
        var facts = try await factsWithPixels(of: source, for: request, job: job) {
            try await pipeline.thumbnail(for: job.with(ResolvedRequest(job.limited($0), sources: .success(sources))))
        }
        facts.faces = try await faces(request, of: source, opened: nil, for: job)
        return pipeline.caches.isCurrent(source.record) ? facts : nil
    }

    /// Returns the detected faces; nil if the request does not include them.
    private func faces(
        _ request: FactsRequest, of source: AvailableSource, opened: OpenedSource?, for job: Job
    ) async throws -> [Face]? {
        guard request.includesFaces else { return nil }
        if let faces = pipeline.caches.faces(of: source.record) { return faces }
        if let opened { return try await pipeline.renderer.faces(in: opened, for: job) }
        // Already validated.
        let opened = try await pipeline.open(for: job.retry)
        defer { pipeline.close(opened) }
        return try await pipeline.renderer.faces(in: opened, for: job)
    }

    private typealias Rendering = (Request) async throws -> Thumbnail

    private func factsOfOpened(
        _ opened: OpenedSource, for request: FactsRequest, source: AvailableSource, job: Job
    ) async throws -> SourceFacts {
        var facts = try await factsWithPixels(of: source, for: request, job: job) {
            try await pipeline.thumbnail(
                for: Job(
                    pipeline.resolved(job.limited($0), of: opened), of: job.client, receipt: job.receipt,
                    bill: job.bill))
        }
        facts.faces = try await faces(request, of: source, opened: opened, for: job)
        return facts
    }

    private static func request(
        of source: ExactText, format: ImageFormat, longestSide: Int, maximumBytes: Int? = nil
    ) -> Request {
        var options = RenderingOptions()
        options.format = .fixed(format)
        options.gamut = .srgb
        options.maximumBytes = maximumBytes
        options.width = longestSide
        options.height = longestSide
        return Request(source: source, options: options)
    }

    /// Renders the largest preview that fits the byte limit; nil if none fits.
    private func preview(of source: ExactText, rendering render: Rendering) async throws -> Thumbnail? {
        for side in [16, 12, 8, 4] {
            let maximum = FactsRequest.maximumPreviewBytes
            let rendered = try await render(
                Self.request(of: source, format: .webp, longestSide: side, maximumBytes: maximum))
            // Even the lowest quality can exceed the limit.
            if rendered.image.bytes.count <= maximum { return rendered }
        }
        return nil
    }

    /// Returns the facts in the header, and the requested facts that need pixels.
    private func factsWithPixels(
        of source: AvailableSource, for request: FactsRequest, job: Job, rendering render: Rendering
    ) async throws -> SourceFacts {
        guard !request.features.isEmpty else { return headerFacts(of: source) }
        let name = job.request.source
        var small: Thumbnail?
        var preview: Thumbnail?
        if request.features != [.preview] {
            small = try await render(Self.request(of: name, format: .png, longestSide: ImageAppearance.longestSide))
        }
        if request.features.contains(.preview) { preview = try await self.preview(of: name, rendering: render) }
        var appearance: ImageAppearance?
        if let small { appearance = try await self.appearance(of: small.image, for: request, bill: job.bill) }
        let rendered = small ?? preview
        var facts = headerFacts(of: source)
        facts.appearance = appearance
        facts.preview = preview?.image.bytes
        facts.cacheStatus = (rendered?.cacheStatus.filter { $0.layer != .source } ?? []) + facts.cacheStatus
        facts.timings += rendered?.timings ?? []
        return facts
    }

    private func appearance(
        of image: EncodedImage, for request: FactsRequest, bill: RequestBill?
    ) async throws -> ImageAppearance {
        let clock = WorkClock(at: pipeline.timekeeper.now)
        defer { bill?.charge(processor: clock.processorTime.whole) }
        return try await pipeline.resources.lanes.small.run(timeLimit: pipeline.configuration.decodeTimeout) {
            [timekeeper = pipeline.timekeeper] token in
            try clock.perform(token, at: timekeeper.now) {
                try ImageAppearance(
                    of: image, features: request.features, components: (request.columns, request.rows), token: token)
            }
        }
    }

    private func headerFacts(of source: AvailableSource) -> SourceFacts {
        let record = source.record
        let head = record.head
        var facts = SourceFacts(header: record.header, byteCount: record.byteCount)
        facts.eTag = head.eTag
        facts.lastModified = head.lastModified
        facts.lastModifiedText = head.headerFields[.lastModified]
        facts.freshness = Freshness(
            head.freshness, at: pipeline.timekeeper.secondsSince1970, isFromCache: source.isFromCache,
            bounds: pipeline.configuration.clientMaxAge)
        facts.cacheStatus = [source.status]
        facts.timings = source.timings
        return facts
    }

    /// Describes a source without decoding its pixels.
    private func describedSource(_ job: Job) async throws -> AvailableSource {
        let identity = try job.sources.main
        let directives = job.directives
        var known: [SourceRecord] = []
        if !directives.noStore {
            if let stored = await pipeline.caches.lookUpRecord(for: identity, waits: job.waits) { known.append(stored) }
            if let partial = pipeline.caches.partialRecord(of: identity) { known.append(partial.whole) }
        }
        if let usable = usable(known, of: identity, under: directives, scan: .header) { return usable }
        if known.isEmpty { try pipeline.throwRememberedFailure(of: identity, directives: directives) }
        if let rejection = job.bill?.workRejection { throw rejection }
        return try await pipeline.fetcher.describe(identity, for: job, needsBytes: known.isEmpty)
    }

    private func usable(
        _ known: [SourceRecord], of identity: SourceIdentity, under directives: RequestCacheControl,
        scan: SourceScan? = nil
    ) -> AvailableSource? {
        func first(_ reuse: SourceReuse) -> SourceRecord? {
            known.first { pipeline.downloader.reuse(of: $0.freshness, for: directives) == reuse }
        }
        var usable = first(.usable)
        if usable == nil {
            usable = first(.usableWhileRevalidating)
            if usable != nil, !directives.onlyIfCached { pipeline.downloader.revalidate(identity, scan: scan) }
        }
        guard let usable else { return nil }
        var source = AvailableSource(usable)
        let timeToLive = usable.freshness.remainingLifetime(at: pipeline.timekeeper.secondsSince1970)
        if timeToLive < 0 { source.status.timeToLive = timeToLive }
        return source
    }

    private func decodableSource(_ job: Job) async throws -> AvailableSource {
        let identity = try job.sources.main
        let directives = job.directives
        let stored = directives.noStore ? nil : await pipeline.caches.lookUpRecord(for: identity, waits: job.waits)
        if let stored {
            if let source = usable([stored], of: identity, under: directives) { return source }
        } else {
            try pipeline.throwRememberedFailure(of: identity, directives: directives)
        }
        if let rejection = job.bill?.workRejection { throw rejection }
        try pipeline.admission.admit(to: .small, for: job.flow)
        return try await pipeline.fetcher.fetch(for: job, needsBytes: PerSource(stored == nil)).main
    }
}
