import ThumbnailTypes

/// A purge that has been done; one without sources and tags was of everything.
package struct PurgeNews: Sendable, Equatable {
    /// The sources that were removed, as operators see them.
    package var sources: [String] = []
    /// The tags that were purged.
    package var tags: [String] = []

    /// A purge of these sources and tags.
    package init(sources: [String] = [], tags: [String] = []) {
        (self.sources, self.tags) = (sources, tags)
    }

    /// The tags of all copies: caches in front may have some that were asked for without the purged tags.
    var allTags: [String] { tags + sources.map(CacheTag.ofSource) }
}

/// The part of a purge that one call of a hook tells.
package struct PurgeReport: Sendable, Equatable {
    /// The source, as operators see it; nil if the purge was not of one source.
    package var url: String?
    /// The tags under which copies of it are known elsewhere.
    package var tags: [String]

    /// A purge of a source, of what has these tags, or of everything.
    package init(url: String? = nil, tags: [String] = []) {
        (self.url, self.tags) = (url, tags)
    }
}
