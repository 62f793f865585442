import ThumbnailTypes

package struct CompletedPurge: Sendable, Equatable {
    package var sources: [String] = []
    package var tags: [String] = []

    package init(sources: [String] = [], tags: [String] = []) {
        (self.sources, self.tags) = (sources, tags)
    }

    /// Of all copies: caches in front may have some that were requested without the purged tags.
    var allTags: [String] { tags + sources.map(CacheTag.ofSource) }
}

/// The part of a purge that one call of a hook reports.
package struct PurgeReport: Sendable, Equatable {
    package var url: String?
    /// The tags under which other caches know copies of it.
    package var tags: [String]

    package init(url: String? = nil, tags: [String] = []) {
        (self.url, self.tags) = (url, tags)
    }
}
