import ThumbnailTypes

package struct CompletedPurge: Sendable, Equatable {
    package var sources: [String] = []
    package var tags: [String] = []

    package init(sources: [String] = [], tags: [String] = []) {
        self.sources = sources
        self.tags = tags
    }

    var isOfEverything: Bool { sources.isEmpty && tags.isEmpty }

    /// The purged tags and a tag per source: caches in front may hold copies requested without the purged tags.
    var allTags: [String] { tags + sources.map(CacheTag.ofSource) }
}

/// The sources and tags of a purge that one call reports.
package struct PurgeReport: Sendable, Equatable {
    package var url: String?
    /// The tags of copies in other caches.
    package var tags: [String]

    package init(url: String? = nil, tags: [String] = []) {
        self.url = url
        self.tags = tags
    }
}
