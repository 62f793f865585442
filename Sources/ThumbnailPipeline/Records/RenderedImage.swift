import Crypto
import Imaging
import Memory
import ThumbnailTypes

/// A result in the cache: the file and its entity tag.
struct RenderedImage: Sendable {
    let image: EncodedImage
    /// A strong entity tag, computed from the bytes alone, so that equal responses have equal tags in any process.
    let eTag: String
    let isIncomplete: Bool
    /// The slot for data common to its responses.
    let slot = ResponseSlot()

    /// Computes the entity tag from all bytes of an image.
    init(_ image: EncodedImage, isIncomplete: Bool = false) {
        self.image = image
        self.isIncomplete = isIncomplete
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        eTag = "\"" + Base64URL.encode(Array(digest.bytes.prefix(16))) + "\""
    }

    /// Wraps a previously tagged image of a complete source; others are not stored.
    init(_ image: EncodedImage, eTag: String) {
        self.image = image
        self.eTag = eTag
        isIncomplete = false
    }

    /// The approximate memory use of the file, its bookkeeping in the cache and its slot, in bytes.
    var cost: Int { image.bytes.footprint + 1_536 }
}

extension Thumbnail {
    /// The `Cache-Status` of a hit of the result cache without any other lookups.
    static let hit = [CacheLayerStatus(.result, .hit)]

    /// Creates the thumbnail for one caller at `now`, in seconds since 1970.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - records: Its sources.
    ///   - isFromCache: Which of them were used without contacting their origins; nil stands for all of them.
    ///   - status: The layers that were queried.
    ///   - timings: The durations of the steps.
    ///   - now: The time of the response.
    ///   - bounds: The operator's bounds on how long clients may use it.
    init(
        _ result: RenderedImage, of records: PerSource<SourceRecord>, isFromCache: PerSource<Bool>? = nil,
        status: [CacheLayerStatus] = hit, timings: [StepTiming] = [], at now: Int, bounds: ClientMaxAge
    ) {
        var freshness =
            records.additional.isEmpty
            ? Freshness(
                records.image.freshness, at: now, isFromCache: isFromCache?.image ?? true, bounds: bounds)
            : Freshness(
                leastOf: records.mapValues { $0.freshness }, isFromCache: isFromCache, at: now, bounds: bounds)
        if result.isIncomplete { freshness.limit(to: Freshness.maximumLifetimeOfIncomplete) }
        self.init(
            image: result.image, sourceHeader: records.image.header, isIncomplete: result.isIncomplete,
            eTag: result.eTag, lastModified: records.lastModified, freshness: freshness, cacheStatus: status,
            timings: timings, slot: status == Self.hit ? result.slot : nil)
    }
}
