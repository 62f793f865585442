/// A part of the disk with its own capacity; the file stores the raw values.
package enum DiskShare: Int, Sendable, CaseIterable {
    /// Files as received from origins.
    case source = 1
    case result = 2
    /// A source's record, without its bytes.
    case record = 3
}

/// The configuration of a store, with sizes in bytes.
package struct DiskStoreConfiguration: Sendable {
    package var folder: String
    package var capacities: [DiskShare: Int]
    package var noteCapacity = 16 << 20
    /// The version of the callers' encoding; a file from another version is emptied.
    package var contentVersion: Int
    package var maximumPendingJobs = 512
    package var maximumPendingBytes = 64 << 20
    /// The time after which a lookup counts as a miss.
    package var readTimeLimit = Duration.milliseconds(500)
    package var fullDelay = Duration.seconds(10)
    /// The time without a file after a failure; doubles if the next failure follows soon.
    package var retryDelay = Duration.seconds(60)
    package var maximumRetryDelay = Duration.seconds(3_600)

    package init(folder: String, capacities: [DiskShare: Int], contentVersion: Int) {
        self.folder = folder
        self.capacities = capacities
        self.contentVersion = contentVersion
    }

    var entryCapacity: Int { capacities.values.reduce(0, +) }
}

package struct DiskShareStatistics: Sendable, Equatable {
    package var usage = 0
    package var capacity = 0
    package var entries = 0
    package var hits = 0
    package var misses = 0
    package var evictedBytes = 0
}

package struct DiskStatistics: Sendable, Equatable {
    package var shares: [DiskShare: DiskShareStatistics] = [:]
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
    subscript(share: DiskShare) -> DiskShareStatistics {
        get { shares[share, default: DiskShareStatistics()] }
        set { shares[share] = newValue }
    }
}

package struct DiskUsage: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
}
