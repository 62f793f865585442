package struct DiskPartitionStatistics: Sendable, Equatable {
    package var usage = 0
    package var capacity = 0
    package var entries = 0
    package var hits = 0
    package var misses = 0
    package var evictedBytes = 0
}

package struct DiskStatistics: Sendable, Equatable {
    package var partitions: [DiskPartition: DiskPartitionStatistics] = [:]
    package var droppedWrites = 0
    package var damagedEntries = 0
    package var damagedFiles = 0
    /// The number of times that the file was missing from its folder, or replaced there.
    package var lostFiles = 0
    package var noteUsage = 0
    package var tagUsage = 0
    /// The number of failures after which the store was disabled for a while.
    package var failures = 0
    package var fullDisks = 0
    package var isFull = false
    package var isWorking = true
}

extension DiskStatistics {
    subscript(partition: DiskPartition) -> DiskPartitionStatistics {
        get { partitions[partition, default: DiskPartitionStatistics()] }
        set { partitions[partition] = newValue }
    }
}

package struct DiskUsage: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
}
