package import DiskCaching
package import ImageCaching

/// What a cache holds and has done, in memory or on the disk; sizes in bytes.
package struct CacheFigures: Sendable, Equatable {
    /// How full it is.
    package let usage: CacheUsage
    /// Look-ups that found their key, and those that did not.
    package let hits, misses: Int
    /// Bytes taken to make room.
    package let evictedBytes: Int

    /// The figures of a cache in memory.
    package init(_ statistics: CacheStatistics) {
        usage = CacheUsage(
            bytes: statistics.usage, capacity: statistics.capacity, preferred: statistics.preferred,
            entries: statistics.entries)
        hits = statistics.hits
        misses = statistics.misses
        evictedBytes = statistics.evictedBytes
    }

    /// The figures of a share of the disk, which is filled to its capacity.
    package init(_ statistics: DiskShareStatistics) {
        usage = CacheUsage(
            bytes: statistics.usage, capacity: statistics.capacity, preferred: statistics.capacity,
            entries: statistics.entries)
        hits = statistics.hits
        misses = statistics.misses
        evictedBytes = statistics.evictedBytes
    }
}
