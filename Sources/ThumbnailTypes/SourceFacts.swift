package import HTTPTypes
package import Recipes

package struct FactsRequest: Hashable, Sendable {
    package var features: Set<ImageAppearance.Feature> = []
    package var includesEXIF = false
    package var columns = 4
    package var rows = 3

    package init(features: Set<ImageAppearance.Feature> = []) { self.features = features }
}

package struct SourceFacts: Sendable {
    package let header: ImageHeader
    package let byteCount: Int
    /// As sent.
    package var eTag: String?
    /// Nil if it is invalid.
    package var lastModified: HTTPDate?
    /// As sent.
    package var lastModifiedText: String?
    package var appearance: ImageAppearance?
    package var freshness = Freshness()
    package var cacheStatus: [CacheLayerStatus] = []
    package var timings: [StepTiming] = []

    package init(header: ImageHeader, byteCount: Int) {
        self.header = header
        self.byteCount = byteCount
    }
}
