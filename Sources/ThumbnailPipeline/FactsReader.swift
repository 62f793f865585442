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

    /// Parses the file's header, and decodes pixels only for facts that need them.
    ///
    /// Sizes over the limits are reported, and a truncated file is an error only if its pixels are needed.
    func facts(_ request: FactsRequest, for job: Job) async throws -> SourceFacts {
        if let opened = job.opened {
            return try await facts(request, of: AvailableSource(opened.record), opened, for: job)
        }
        var job = job
        while true {
            let source = try await describedSource(job, needsPixels: !request.features.isEmpty)
            try job.request.checkByteCount(of: source.record)
            guard !request.features.isEmpty else {
                return try await facts(request, of: source, named: job.request.source, rendering: nil)
            }
            if let bytes = source.bytes {
                // The fetched version, even if the caches have another one meanwhile.
                let opened = try pipeline.open(source, bytes, job.directives)
                defer { pipeline.close(opened) }
                return try await facts(request, of: source, opened, for: job)
            }
            // The source was validated a moment ago.
            (job.directives.noCache, job.directives.maxAge, job.directives.minFresh) = (false, nil, nil)
            if pipeline.caches.isCurrent(source.record) {
                let (current, sources) = (job, PerSource(source.record.identity))
                let facts = try await facts(request, of: source, named: job.request.source, bill: job.bill) {
                    try await pipeline.thumbnail(
                        for: current.with(ResolvedRequest(current.limited($0), sources: .success(sources))))
                }
                // Otherwise another version may have arrived between the header and the pixels.
                if pipeline.caches.isCurrent(source.record) { return facts }
            }
            job = job.retry
        }
    }

    private typealias Rendering = (Request) async throws -> Thumbnail

    private func facts(
        _ request: FactsRequest, of source: AvailableSource, _ opened: OpenedSource, for job: Job
    ) async throws -> SourceFacts {
        guard !request.features.isEmpty else {
            return try await facts(request, of: source, named: job.request.source, rendering: nil)
        }
        return try await facts(request, of: source, named: job.request.source, bill: job.bill) {
            try await pipeline.thumbnail(
                for: Job(
                    pipeline.resolved(job.limited($0), of: opened), of: job.client, receipt: job.receipt,
                    bill: job.bill))
        }
    }

    private static func image(
        of source: ExactText, _ format: ImageFormat, longestSide: Int, maximumBytes: Int? = nil
    ) -> Request {
        var options = RenderingOptions()
        (options.format, options.gamut, options.maximumBytes) = (.fixed(format), .srgb, maximumBytes)
        (options.width, options.height) = (longestSide, longestSide)
        return Request(source: source, options: options)
    }

    /// The largest preview that fits.
    private func preview(of source: ExactText, _ render: Rendering) async throws -> Thumbnail? {
        for side in [16, 12, 8, 4] {
            let maximum = FactsRequest.maximumPreviewBytes
            let rendered = try await render(Self.image(of: source, .webp, longestSide: side, maximumBytes: maximum))
            // The lowest quality may be too large.
            if rendered.image.bytes.count <= maximum { return rendered }
        }
        return nil
    }

    /// - Parameter render: Renders the image; nil if no facts from the pixels are requested.
    private func facts(
        _ request: FactsRequest, of source: AvailableSource, named name: ExactText, bill: RequestBill? = nil,
        rendering render: Rendering?
    ) async throws -> SourceFacts {
        var appearance: ImageAppearance?
        var (small, preview) = (Thumbnail?.none, Thumbnail?.none)
        if let render {
            if request.features != [.preview] {
                small = try await render(Self.image(of: name, .png, longestSide: ImageAppearance.longestSide))
            }
            if request.features.contains(.preview) { preview = try await self.preview(of: name, render) }
        }
        if let image = small?.image {
            let clock = WorkClock(at: pipeline.timekeeper.now)
            defer { bill?.charge(processor: clock.wholeProcessorTime) }
            appearance = try await pipeline.resources.lanes.small.run(timeLimit: pipeline.configuration.decodeTimeout) {
                [timekeeper = pipeline.timekeeper] token in
                try clock.perform(token, at: timekeeper.now) {
                    try ImageAppearance(
                        of: image, features: request.features, components: (request.columns, request.rows),
                        token: token)
                }
            }
        }
        let rendered = small ?? preview
        let record = source.record
        var facts = SourceFacts(header: record.header, byteCount: record.byteCount)
        facts.eTag = record.head.eTag
        facts.lastModified = record.head.lastModified
        facts.lastModifiedText = record.head.headerFields[.lastModified]
        (facts.appearance, facts.preview) = (appearance, preview?.image.bytes)
        facts.freshness = Freshness(
            record.freshness, at: pipeline.timekeeper.secondsSince1970, isFromCache: source.isFromCache,
            bounds: pipeline.configuration.clientMaxAge)
        facts.cacheStatus = (rendered?.cacheStatus.filter { $0.layer != .source } ?? []) + [source.status]
        facts.timings = source.timings + (rendered?.timings ?? [])
        return facts
    }

    private func describedSource(_ job: Job, needsPixels: Bool) async throws -> AvailableSource {
        let (identity, directives) = (try job.sources.image, job.directives)
        let stored = directives.noStore ? nil : await pipeline.caches.restoreRecord(for: identity, job.allowances)
        if let stored {
            switch pipeline.downloader.reuse(of: stored.freshness, for: directives) {
            case .needsValidation: break
            case .usableWhileRevalidating:
                if !directives.onlyIfCached { pipeline.downloader.revalidate(identity) }
                fallthrough
            case .usable:
                var source = AvailableSource(stored)
                let timeToLive = stored.freshness.remainingLifetime(at: pipeline.timekeeper.secondsSince1970)
                if timeToLive < 0 { source.status.timeToLive = timeToLive }
                return source
            }
        } else {
            try pipeline.throwRememberedFailure(of: identity, directives)
        }
        if let refusal = job.bill?.workRefusal { throw refusal }
        if needsPixels { try pipeline.admission.admit(to: .small, for: job.flow) }
        var sources = try await pipeline.fetcher.fetch(for: job, needsBytes: PerSource(stored == nil))
        while true {
            if let sources { return sources.image }
            // The source is unchanged, but its record has been evicted meanwhile.
            sources = try await pipeline.fetcher.fetch(for: job.retry, needsBytes: PerSource(true))
        }
    }
}
