package import HTTPTypes
package import Recipes

package struct FactsRequest: Hashable, Sendable {
    package var features: Set<ImageAppearance.Feature> = []
    package var includesEXIF = false
    /// The number of columns of a BlurHash, 1…9.
    package var columns = 4
    /// The number of rows of a BlurHash, 1…9.
    package var rows = 3

    package init(features: Set<ImageAppearance.Feature> = []) {
        self.features = features
    }
}

package struct SourceFacts: Sendable {
    package let header: ImageHeader
    package let byteCount: Int
    /// The origin's `ETag`, as sent.
    package var eTag: String?
    /// The origin's `Last-Modified`; nil if it is invalid.
    package var lastModified: HTTPDate?
    /// The origin's `Last-Modified`, as sent.
    package var lastModifiedText: String?
    /// The facts from the pixels; nil if none were requested.
    package var appearance: ImageAppearance?
    package var freshness = Freshness()
    /// One member per cache layer queried.
    package var cacheStatus: [CacheLayerStatus] = []
    package var timings: [StepTiming] = []

    package init(header: ImageHeader, byteCount: Int) {
        self.header = header
        self.byteCount = byteCount
    }
}
