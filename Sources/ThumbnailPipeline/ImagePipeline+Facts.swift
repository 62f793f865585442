import Coordination
import Downloading
package import HTTPTypes
import Imaging
import Text

extension ImagePipeline {
    /// The facts about a request's source: the file's header is read, and pixels are decoded only for facts that need
    /// them.
    ///
    /// Sizes over the limits are told and not refused, and a file that ends early is no failure, unless its pixels are
    /// needed.
    package func facts(
        for recurring: RecurringRequest, asked: FactsRequest, directives: RequestCacheControl, receipt: String
    ) async throws -> SourceFacts {
        let allowance = WaitAllowance()
        var call = Call(
            request: recurring.request, sources: try recurring.sources.get(), directives: directives, receipt: receipt,
            allowance: allowance)
        while true {
            let source = try await describedSource(call, needsPixels: !asked.features.isEmpty)
            guard !asked.features.isEmpty else { return try await facts(of: source, asked: asked) }
            if let fetch = source.fetch, let bytes = fetch.bytes.image {
                // The version that was fetched, whatever the caches hold meanwhile.
                let given = try given(bytes, of: fetch, directives: directives)
                defer { close(given) }
                return try await facts(of: source, asked: asked) { [self] request in
                    try await thumbnail(of: given, for: request, receipt: receipt)
                }
            }
            // The source was validated a moment ago.
            (call.directives.noCache, call.directives.maxAge, call.directives.minFresh) = (false, nil, nil)
            if caches.isCurrent(source.record) {
                let facts = try await facts(of: source, asked: asked) { [self, call] request in
                    var request = request
                    request.source = call.request.source
                    return try await thumbnail(
                        for: resolved(request), directives: call.directives, receipt: receipt, allowance: allowance)
                }
                // Else another version may have come between the header and the pixels.
                if caches.isCurrent(source.record) { return facts }
            }
            call = call.again
        }
    }

    /// The facts about a source that is known.
    ///
    /// - Parameter makeThumbnail: Makes the small image that a portrait is made of: lossless, and shared like any other
    ///   result.
    func facts(
        of source: DescribedSource, asked: FactsRequest,
        _ makeThumbnail: (ThumbnailRequest) async throws -> Thumbnail = { _ in throw PipelineError.sourceNeeded }
    ) async throws -> SourceFacts {
        var small: Thumbnail?
        var portrait: ImagePortrait?
        if !asked.features.isEmpty {
            var options = RenderingOptions()
            options.format = .fixed(.png)
            (options.width, options.height) = (ImagePortrait.longestSide, ImagePortrait.longestSide)
            let thumbnail = try await makeThumbnail(ThumbnailRequest(source: "", options: options))
            small = thumbnail
            portrait = try await resources.lanes.small.run(timeLimit: configuration.decodeTimeout) { token in
                try ImagePortrait(
                    of: thumbnail.image, features: asked.features, components: (asked.columns, asked.rows),
                    token: token)
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

    private func describedSource(_ call: Call, needsPixels: Bool) async throws -> DescribedSource {
        let (sources, directives) = (call.sources, call.directives)
        let known = directives.noStore ? nil : await caches.restoredRecord(for: sources.image, call.allowance)
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
        if needsPixels { try admission.admit(to: .small) }
        var fetch = try await fetcher.fetch(for: call, needsBytes: PerSource(known == nil))
        while true {
            if let fetch { return DescribedSource(record: fetch.records.image, fetch: fetch, status: fetch.status) }
            // The source is unchanged, but its record has been evicted meanwhile.
            fetch = try await fetcher.fetch(for: call.again, needsBytes: PerSource(true))
        }
    }
}

/// A source as it is known, and how it came to be.
struct DescribedSource {
    let record: SourceRecord
    let fetch: Fetch?
    let status: CacheLayerStatus
}

extension DescribedSource {
    /// An image in hand.
    init(_ given: GivenSource) {
        self.init(record: given.record, fetch: nil, status: CacheLayerStatus(.source, .hit))
    }
}
