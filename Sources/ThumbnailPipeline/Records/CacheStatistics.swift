package import DiskCaching

/// Contents and counters of a cache; sizes in bytes.
package struct CacheStatistics: Sendable, Equatable {
    package let usage: CacheUsage
    package let hits, misses: Int
    package let evictedBytes: Int
}

extension CacheStatistics {
    package init(_ statistics: DiskPartitionStatistics) {
        usage = CacheUsage(
            bytes: statistics.usage, capacity: statistics.capacity, preferred: statistics.capacity,
            entries: statistics.entries)
        hits = statistics.hits
        misses = statistics.misses
        evictedBytes = statistics.evictedBytes
    }
}

package struct NamedCache: Sendable, Equatable {
    package let name: String
    package let statistics: CacheStatistics
}

package struct CacheUsage: Sendable, Equatable {
    package var bytes: Int
    package var capacity: Int
    package var preferred: Int
    package var entries: Int
}

package struct RemovedEntries: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
    package var isComplete = true
}

extension RemovedEntries {
    init(_ usage: DiskUsage) { self.init(entries: usage.entries, bytes: usage.bytes) }

    static func + (one: RemovedEntries, other: RemovedEntries) -> RemovedEntries {
        RemovedEntries(
            entries: one.entries + other.entries, bytes: one.bytes + other.bytes,
            isComplete: one.isComplete && other.isComplete)
    }
}
