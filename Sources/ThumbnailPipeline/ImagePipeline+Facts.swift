import Coordination
import Downloading
import HTTPTypes
import Imaging
import Text
package import ThumbnailTypes

extension ImagePipeline {
    /// Returns the facts about a call's source: parses the file's header, and decodes pixels only for facts that need
    /// them.
    ///
    /// Sizes over the limits are reported, not rejected, and a truncated file is an error only if its pixels are
    /// needed.
    package func facts(_ asked: FactsRequest, for call: Call) async throws -> SourceFacts {
        if let opened = call.opened { return try await facts(asked, of: DescribedSource(opened), opened, for: call) }
        var call = call
        while true {
            let source = try await describedSource(call, needsPixels: !asked.features.isEmpty)
            guard !asked.features.isEmpty else { return try await facts(asked, of: source, from: nil) }
            if let fetch = source.fetch, let bytes = fetch.bytes.image {
                // The fetched version, even if the caches have another one meanwhile.
                let opened = try opened(bytes, of: fetch, call.directives)
                defer { close(opened) }
                return try await facts(asked, of: source, opened, for: call)
            }
            // The source was validated a moment ago.
            (call.directives.noCache, call.directives.maxAge, call.directives.minFresh) = (false, nil, nil)
            if caches.isCurrent(source.record) {
                var small = Call(
                    resolved(Self.smallImage(of: call.request.source)), directives: call.directives,
                    receipt: call.receipt)
                small.allowances = call.allowances
                let facts = try await facts(asked, of: source, from: try await thumbnail(for: small))
                // Otherwise another version may have arrived between the header and the pixels.
                if caches.isCurrent(source.record) { return facts }
            }
            call = call.again
        }
    }

    private func facts(
        _ asked: FactsRequest, of source: DescribedSource, _ opened: OpenedSource, for call: Call
    ) async throws -> SourceFacts {
        guard !asked.features.isEmpty else { return try await facts(asked, of: source, from: nil) }
        let small = Call(resolved(Self.smallImage(of: call.request.source), of: opened), receipt: call.receipt)
        return try await facts(asked, of: source, from: try await thumbnail(for: small))
    }

    /// The request for the small image whose appearance is computed: lossless, and shared like any other result.
    private static func smallImage(of source: ExactText) -> ThumbnailRequest {
        var options = RenderingOptions()
        (options.format, options.gamut) = (.fixed(.png), .srgb)
        (options.width, options.height) = (ImageAppearance.longestSide, ImageAppearance.longestSide)
        return ThumbnailRequest(source: source, options: options)
    }

    /// Returns the facts about a known source.
    ///
    /// - Parameter small: The small image; nil if no facts from the pixels are requested.
    private func facts(
        _ asked: FactsRequest, of source: DescribedSource, from small: Thumbnail?
    ) async throws -> SourceFacts {
        var appearance: ImageAppearance?
        if let image = small?.image {
            appearance = try await resources.lanes.small.run(timeLimit: configuration.decodeTimeout) { token in
                try ImageAppearance(
                    of: image, features: asked.features, components: (asked.columns, asked.rows), token: token)
            }
        }
        let record = source.record
        var facts = SourceFacts(header: record.header, byteCount: record.byteCount)
        facts.eTag = record.head.eTag
        facts.lastModified = record.head.lastModified
        facts.lastModifiedText = record.head.headerFields[.lastModified]
        facts.appearance = appearance
        facts.freshness = Freshness(
            record.freshness, at: timekeeper.secondsSince1970, isFromCache: source.fetch?.isFromCache.image ?? true,
            bounds: configuration.clientMaxAge)
        facts.cacheStatus = (small?.cacheStatus.filter { $0.layer != .source } ?? []) + [source.status]
        facts.timings = (source.fetch?.timings ?? []) + (small?.timings ?? [])
        return facts
    }

    private func describedSource(_ call: Call, needsPixels: Bool) async throws -> DescribedSource {
        let (sources, directives) = (try call.sources, call.directives)
        let known = directives.noStore ? nil : await caches.restoredRecord(for: sources.image, call.allowances)
        if let known {
            switch downloader.reuse(of: known.freshness, for: directives) {
            case .needsValidation: break
            case .usableWhileRevalidating:
                if !directives.onlyIfCached { downloader.revalidate(sources.image) }
                fallthrough
            case .usable:
                let timeToLive = known.freshness.remainingLifetime(at: timekeeper.secondsSince1970)
                return DescribedSource(
                    known, status: CacheLayerStatus(.source, .hit, timeToLive: timeToLive < 0 ? timeToLive : nil))
            }
        } else {
            try throwRememberedFailure(of: sources.image, directives)
        }
        if needsPixels { try admission.admit(to: .small) }
        var fetch = try await fetcher.fetch(for: call, needsBytes: PerSource(known == nil))
        while true {
            if let fetch { return DescribedSource(fetch.records.image, fetch: fetch, status: fetch.status) }
            // The source is unchanged, but its record has been evicted meanwhile.
            fetch = try await fetcher.fetch(for: call.again, needsBytes: PerSource(true))
        }
    }
}

/// A known source, and how it was obtained.
private struct DescribedSource {
    let record: SourceRecord
    var fetch: Fetch?
    var status = CacheLayerStatus(.source, .hit)

    init(_ record: SourceRecord, fetch: Fetch? = nil, status: CacheLayerStatus) {
        (self.record, self.fetch, self.status) = (record, fetch, status)
    }

    init(_ opened: OpenedSource) {
        record = opened.record
    }
}
