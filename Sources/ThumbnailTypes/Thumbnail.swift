import Coordination
package import HTTPTypes
package import Recipes
package import Telemetry

package struct Thumbnail: Sendable {
    package let result: RenderedImage
    /// Nil in tests of the response alone.
    package let sourceHeader: ImageHeader?
    /// The latest modification of a source; nil if one of them states none.
    package let lastModified: HTTPDate?
    package let freshness: Freshness

    package init(
        _ result: RenderedImage, sourceHeader: ImageHeader? = nil, lastModified: HTTPDate?, freshness: Freshness
    ) {
        self.result = result
        self.sourceHeader = sourceHeader
        self.lastModified = lastModified
        self.freshness = freshness
    }

    package var image: EncodedImage { result.image }
    package var isIncomplete: Bool { result.isIncomplete }
    package var eTag: String { result.eTag }
    package var cacheStatus: [CacheLayerStatus] { result.cacheStatus }
    package var timings: [StepTiming] { result.timings }

    /// Nil if the result came from no cache.
    package var slot: ResponseSlot? { result.cacheStatus == RenderedImage.hit ? result.slot : nil }

    package var gainMap: GainMapUse? {
        image.hasGainMap ? .keep : sourceHeader?.colors.hdrFormat == .gainMap ? .drop : nil
    }
}

/// A place beside a cached result for data common to its responses; removed with the result.
package final class ResponseSlot: Sendable {
    package typealias Content = AnyObject & Sendable

    private let content = Locked<(any Content)?>(nil)

    package init() {}

    package var value: (any Content)? { content.withLock { $0 } }

    package func set(_ new: any Content) { _ = content.exchange(new) }
}
