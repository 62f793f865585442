import Coordination
import Downloading
package import HTTPTypes
import Imaging

extension ImagePipeline {
    /// What is known of a request's source: the file's header is read, and pixels are decoded only for what needs them.
    ///
    /// Sizes over the limits are told and not refused, and a file that ends early is no failure, unless its pixels are needed.
    package func facts(
        for recurring: RecurringRequest, asked: FactsRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> SourceFacts {
        let source = try await describedSource(recurring, directives: directives, receipt: receipt)
        let small = asked.features.isEmpty ? nil : try await smallThumbnail(of: recurring, directives, receipt)
        let portrait = try await small.map { $0.image }.mapWaiting { file in
            try await resources.lanes.small.run(timeLimit: configuration.decodeTimeout) { token in
                try ImagePortrait(
                    of: file, features: asked.features, components: (asked.columns, asked.rows), token: token)
            }
        }
        let record = source.record
        return SourceFacts(
            header: record.header, byteCount: record.byteCount, eTag: record.head.eTag,
            lastModified: record.head.lastModified, lastModifiedText: record.head.headerFields[.lastModified],
            portrait: portrait,
            freshness: Freshness(
                record.freshness, at: timekeeper.secondsSince1970, isFromCache: source.fetch?.isFromCache.image ?? true,
                bounds: configuration.clientMaxAge),
            cacheStatus: (small?.cacheStatus.filter { $0.layer != .source } ?? []) + [source.status],
            timings: (source.fetch?.timings ?? []) + (small?.timings ?? []))
    }

    /// A source as it is known, and how it came to be.
    private struct DescribedSource {
        let record: SourceRecord
        let fetch: Fetch?
        let status: CacheLayerStatus
    }

    private func describedSource(
        _ recurring: RecurringRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> DescribedSource {
        let sources = try recurring.sources.get()
        let call = Call(request: recurring.request, sources: sources, directives: directives, receipt: receipt)
        let known = directives.noStore ? nil : await caches.restoredRecord(for: sources.image)
        if let known {
            switch downloader.reuse(of: known.freshness, for: directives) {
            case .needsValidation: break
            case .usableWhileRevalidating:
                if !directives.onlyIfCached { downloader.revalidate(sources.image) }
                fallthrough
            case .usable:
                let timeToLive = known.freshness.remainingLifetime(at: timekeeper.secondsSince1970)
                return DescribedSource(
                    record: known, fetch: nil,
                    status: CacheLayerStatus(.source, .hit, timeToLive: timeToLive < 0 ? timeToLive : nil))
            }
        } else if !directives.noCache, !directives.onlyIfCached,
            let failure = broken.failure(of: sources.image, known: nil, plan: { _ in throw PipelineError.sourceNeeded })
        {
            throw failure
        }
        var fetch = try await fetcher.fetch(for: call, needsBytes: PerSource(known == nil))
        while true {
            if let fetch { return DescribedSource(record: fetch.records.image, fetch: fetch, status: fetch.status) }
            // The source is unchanged, but what was known of it has been evicted meanwhile.
            fetch = try await fetcher.fetch(for: call.again, needsBytes: PerSource(true))
        }
    }

    /// The small image that portraits are made of: lossless, and shared like any other result.
    private func smallThumbnail(
        of recurring: RecurringRequest, _ directives: RequestCacheControl, _ receipt: String
    ) async throws -> Thumbnail {
        var request = ThumbnailRequest(source: recurring.request.source, format: .fixed(.png))
        (request.options.width, request.options.height) = (ImagePortrait.longestSide, ImagePortrait.longestSide)
        // The source was validated a moment ago.
        var directives = directives
        (directives.noCache, directives.maxAge, directives.minFresh) = (false, nil, nil)
        return try await thumbnail(for: resolved(request), directives: directives, receipt: receipt)
    }
}

extension Optional where Wrapped: Sendable {
    /// What `transform` makes of the value after a wait.
    fileprivate func mapWaiting<New>(_ transform: (Wrapped) async throws -> New) async throws -> New? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
