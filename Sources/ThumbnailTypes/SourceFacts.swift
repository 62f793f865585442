package import HTTPTypes
package import Memory
package import Recipes
package import Telemetry

package struct FactsRequest: Hashable, Sendable {
    package var features: Set<ImageAppearance.Feature> = []
    /// The requested texts of the file, which need no pixels.
    package var texts: Set<Texts> = []
    package var includesFaces = false
    package var columns = 4
    package var rows = 3

    /// A preview of this size has a `data:` URI of at most 256 bytes.
    package static let maximumPreviewBytes = 174

    package init(features: Set<ImageAppearance.Feature> = []) { self.features = features }

    package enum Texts: String, CaseIterable, Sendable {
        case exif
        case rights
    }
}

package struct SourceFacts: Sendable {
    package let header: ImageHeader
    package let byteCount: Int
    /// The field as sent.
    package var eTag: String?
    /// Nil if it is invalid.
    package var lastModified: HTTPDate?
    /// The field as sent.
    package var lastModifiedText: String?
    package var appearance: ImageAppearance?
    /// The faces, the largest first.
    package var faces: [Face]?
    /// A WebP file of at most ``FactsRequest/maximumPreviewBytes``; nil if it was not requested, or if none fits.
    package var preview: SharedBytes?
    package var freshness = Freshness()
    package var cacheStatus: [CacheLayerStatus] = []
    package var timings: [StepTiming] = []

    package init(header: ImageHeader, byteCount: Int) {
        self.header = header
        self.byteCount = byteCount
    }
}
