package import HTTPTypes
package import Imaging

/// Which facts about a source are asked for, besides those of its header.
package struct FactsRequest: Hashable, Sendable {
    /// The facts that are computed from the pixels.
    package var features: Set<ImageAppearance.Feature> = []
    /// Whether the texts of Exif are told.
    package var includesEXIF = false
    /// Columns of a BlurHash, 1…9.
    package var columns = 4
    /// Rows of a BlurHash, 1…9.
    package var rows = 3

    /// The header's facts, and these.
    package init(features: Set<ImageAppearance.Feature> = []) {
        self.features = features
    }
}

/// The facts about a source.
package struct SourceFacts: Sendable {
    /// The header of its file.
    package let header: ImageHeader
    /// Bytes of the file.
    package let byteCount: Int
    /// The origin's `ETag`, as sent.
    package var eTag: String?
    /// The origin's `Last-Modified`, if it can be read.
    package var lastModified: HTTPDate?
    /// The origin's `Last-Modified`, as sent.
    package var lastModifiedText: String?
    /// The facts from the pixels; nil if none were asked for.
    package var appearance: ImageAppearance?
    /// How long an answer may be stored, and in which caches.
    package var freshness = Freshness()
    /// One member for each cache layer that was asked.
    package var cacheStatus: [CacheLayerStatus] = []
    /// How long the steps took.
    package var timings: [StepTiming] = []

    /// The facts of a header.
    package init(header: ImageHeader, byteCount: Int) {
        self.header = header
        self.byteCount = byteCount
    }
}
