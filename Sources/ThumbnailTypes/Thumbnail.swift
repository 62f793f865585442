import Coordination
package import HTTPTypes
package import Imaging

/// A finished thumbnail with what an answer has to say about it.
package struct Thumbnail: Sendable {
    package let image: EncodedImage
    /// The header of the image's source; nil in tests of the answer alone.
    package let sourceHeader: ImageHeader?
    /// Whether a source lacked pixels, which are gray then, or coarse.
    package let isIncomplete: Bool
    /// Strong entity tag of the image's bytes, with its quotes.
    package let eTag: String
    /// When the latest of the sources was changed; nil if one of them does not say.
    package let lastModified: HTTPDate?
    /// How long the answer may be stored, and in which caches.
    package let freshness: Freshness
    /// One member per cache layer that was asked, in the order of the contract.
    package let cacheStatus: [CacheLayerStatus]
    /// How long the steps took, for `Server-Timing`.
    package let timings: [StepTiming]
    /// Where the cached result keeps what answers have in common; nil if it came from no cache.
    package let place: AnswerPlace?

    /// The use that was made of the source's gain map; nil if it has none.
    package var gainMap: GainMapUse? {
        image.hasGainMap ? .keep : sourceHeader?.colors.highRange == .gainMap ? .drop : nil
    }

    /// A thumbnail ready to be answered.
    package init(
        image: EncodedImage, sourceHeader: ImageHeader? = nil, isIncomplete: Bool = false, eTag: String,
        lastModified: HTTPDate?, freshness: Freshness,
        cacheStatus: [CacheLayerStatus], timings: [StepTiming], place: AnswerPlace? = nil
    ) {
        self.place = place
        self.image = image
        self.sourceHeader = sourceHeader
        self.isIncomplete = isIncomplete
        self.eTag = eTag
        self.lastModified = lastModified
        self.freshness = freshness
        self.cacheStatus = cacheStatus
        self.timings = timings
    }
}

/// A place beside a cached result for data that its answers share; it is removed with the result.
package final class AnswerPlace: Sendable {
    /// An object that the place can keep.
    package typealias Content = AnyObject & Sendable

    private let content = Locked<(any Content)?>(nil)

    package init() {}

    /// The object that was kept last.
    package var kept: (any Content)? { content.withLock { $0 } }

    /// Keeps `new` in place of the last object.
    package func keep(_ new: any Content) {
        let replaced = content.withLock { content in
            defer { content = new }
            return content
        }
        // Released here, outside the lock.
        _ = replaced
    }
}
