import Coordination
import HTTPTypes
import Imaging
import ThumbnailPipeline

/// The fields of a thumbnail's answer that stay the same while the thumbnail does.
///
/// Formatting dates and joining strings for each answer to a hot URL would cost more than all the rest of it.
/// Used on all event threads.
final class ThumbnailFieldsTemplate: Sendable {
    /// All that the fields are made of, next to the query that owns the template.
    struct Facts: Equatable {
        var eTag: String
        var format: ImageFormat
        var lastModified: HTTPDate?
        var storability: Freshness.Storability
        var lifetime: Int?
        var cacheStatus: [CacheLayerStatus]

        /// The lasting facts of a thumbnail.
        init(_ thumbnail: Thumbnail) {
            eTag = thumbnail.eTag
            format = thumbnail.image.format
            lastModified = thumbnail.lastModified
            storability = thumbnail.freshness.storability
            lifetime = thumbnail.freshness.lifetime
            cacheStatus = thumbnail.cacheStatus
        }
    }

    private let last = Locked<(facts: Facts, fields: HTTPFields)?>(nil)

    /// The fields made last time, if they were made of the same facts, else what `make` makes.
    func fields(for facts: Facts, make: () -> HTTPFields) -> HTTPFields {
        if let known = last.withLock({ $0?.facts == facts ? $0?.fields : nil }) { return known }
        let made = make()
        last.withLock { $0 = (facts, made) }
        return made
    }
}
