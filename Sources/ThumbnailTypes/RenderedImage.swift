import Crypto
import Memory
package import Recipes
package import Telemetry

package struct RenderedImage: Sendable {
    package let image: EncodedImage
    /// The entity tag, made from the bytes alone, so that equal responses have equal tags in any process.
    package let eTag: String
    /// Whether a source lacked pixels, which are gray or coarse instead.
    package let isIncomplete: Bool
    /// The status of each cache layer queried, the result cache first.
    package var cacheStatus: [CacheLayerStatus]
    package var timings: [StepTiming]
    /// Data common to its responses; nil if it is not cached.
    package let slot: ResponseSlot?

    package static let hit = [CacheLayerStatus(.result, outcome: .hit)]

    package init(
        _ image: EncodedImage, eTag: String, isIncomplete: Bool = false, cacheStatus: [CacheLayerStatus] = hit,
        timings: [StepTiming] = [], slot: ResponseSlot? = ResponseSlot()
    ) {
        self.image = image
        self.eTag = eTag
        self.isIncomplete = isIncomplete
        self.cacheStatus = cacheStatus
        self.timings = timings
        self.slot = slot
    }

    package init(_ image: EncodedImage, isIncomplete: Bool = false) {
        let digest = image.bytes.withBytes { SHA256.hash($0) }
        let eTag = "\"" + Base64URL.encode(Array(digest.bytes.prefix(16))) + "\""
        self.init(image, eTag: eTag, isIncomplete: isIncomplete)
    }

    package func with(_ cacheStatus: [CacheLayerStatus], timings: [StepTiming] = []) -> RenderedImage {
        var result = self
        result.cacheStatus = cacheStatus
        result.timings = timings
        return result
    }

    /// The image for a caller that joined the render, and queried no layer behind the result cache.
    package var joined: RenderedImage {
        with([CacheLayerStatus(.result, outcome: cacheStatus[0].outcome, isCollapsed: true)])
    }
}
