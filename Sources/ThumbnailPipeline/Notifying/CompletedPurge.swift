import ThumbnailTypes

/// A completed purge; without sources and tags, it removed everything.
package struct CompletedPurge: Sendable, Equatable {
    package var sources: [String] = []
    package var tags: [String] = []

    package init(sources: [String] = [], tags: [String] = []) {
        (self.sources, self.tags) = (sources, tags)
    }

    /// The tags of all copies: caches in front may have some that were requested without the purged tags.
    var allTags: [String] { tags + sources.map(CacheTag.ofSource) }
}

/// The part of a purge reported by one call of a hook.
package struct PurgeReport: Sendable, Equatable {
    /// The source, as operators see it; nil if the purge was not of one source.
    package var url: String?
    /// The tags under which other caches know copies of it.
    package var tags: [String]

    package init(url: String? = nil, tags: [String] = []) {
        (self.url, self.tags) = (url, tags)
    }
}
