import Coordination
package import HTTPTypes
package import Imaging

/// A rendered thumbnail and the metadata of its response.
package struct Thumbnail: Sendable {
    package let image: EncodedImage
    /// The header of the image's source; nil in tests of the response alone.
    package let sourceHeader: ImageHeader?
    /// Whether a source lacked pixels, which are gray or coarse instead.
    package let isIncomplete: Bool
    /// The strong entity tag of the image's bytes, in quotes.
    package let eTag: String
    /// The latest modification date of the sources; nil if one of them has none.
    package let lastModified: HTTPDate?
    package let freshness: Freshness
    /// One member per cache layer queried, in order.
    package let cacheStatus: [CacheLayerStatus]
    package let timings: [StepTiming]
    /// Stores data common to all responses with the cached result; nil if it came from no cache.
    package let slot: ResponseSlot?

    package var gainMap: GainMapUse? {
        image.hasGainMap ? .keep : sourceHeader?.colors.highRange == .gainMap ? .drop : nil
    }

    package init(
        image: EncodedImage, sourceHeader: ImageHeader? = nil, isIncomplete: Bool = false, eTag: String,
        lastModified: HTTPDate?, freshness: Freshness,
        cacheStatus: [CacheLayerStatus], timings: [StepTiming], slot: ResponseSlot? = nil
    ) {
        self.slot = slot
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

/// A slot beside a cached result for data common to its responses; removed with the result.
package final class ResponseSlot: Sendable {
    package typealias Content = AnyObject & Sendable

    private let content = Locked<(any Content)?>(nil)

    package init() {}

    package var value: (any Content)? { content.withLock { $0 } }

    package func set(_ new: any Content) {
        let replaced = content.withLock { content in
            defer { content = new }
            return content
        }
        // Released here, outside the lock.
        _ = replaced
    }
}
