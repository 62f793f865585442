import Crypto
import Imaging
import Memory
import ThumbnailTypes

/// A result as the cache keeps it: the file and its entity tag.
struct RenderedImage: Sendable {
    let image: EncodedImage
    /// Strong: made from the bytes alone, so that equal answers have equal tags in any process.
    let eTag: String
    /// Whether a source lacked pixels.
    let isIncomplete: Bool
    /// The place for data that answers with it share.
    let place = AnswerPlace()

    /// Tags a finished image; hashes all its bytes.
    init(_ image: EncodedImage, isIncomplete: Bool = false) {
        self.image = image
        self.isIncomplete = isIncomplete
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        eTag = "\"" + Base64URL.encode(Array(digest.bytes.prefix(16))) + "\""
    }

    /// An image that was tagged before, of a source that was whole: others are not written down.
    init(_ image: EncodedImage, eTag: String) {
        self.image = image
        self.eTag = eTag
        isIncomplete = false
    }

    /// Bytes of the file and, roughly, of its place in the cache and what is kept there.
    var cost: Int { image.bytes.footprint + 1_536 }
}

extension Thumbnail {
    /// The `Cache-Status` of a hit of the result cache for which nothing else had to be asked.
    static let hit = [CacheLayerStatus(.result, .hit)]

    /// A result as the answer to one caller at `now`, in seconds since 1970.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - records: Its sources.
    ///   - isFromCache: Which of them came without asking their origins; nil stands for all of them.
    ///   - status: The layers that answered.
    ///   - timings: How long the steps took.
    ///   - now: The time of the answer.
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
        if result.isIncomplete { freshness.limit(to: Freshness.longestOfIncomplete) }
        self.init(
            image: result.image, sourceHeader: records.image.header, isIncomplete: result.isIncomplete,
            eTag: result.eTag, lastModified: records.lastModified, freshness: freshness, cacheStatus: status,
            timings: timings, place: status == Self.hit ? result.place : nil)
    }
}
