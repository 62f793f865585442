/// A part of the store with its own capacity; raw values are stored in the file.
package enum DiskShare: Int, Sendable, CaseIterable {
    /// Files as received from origins.
    case source = 1
    case result = 2
    /// Records of sources, without their bytes.
    case record = 3
}

/// The folder and the limits of the store; sizes in bytes.
package struct DiskStoreConfiguration: Sendable {
    /// The folder; created with its parents if it does not exist.
    package var folder: String
    /// The capacity of each share in bytes; a missing share stores nothing.
    package var capacities: [DiskShare: Int]
    /// The capacity of all notes together in bytes.
    package var noteCapacity = 16 << 20
    /// The version of the callers' entry headers, names and notes; a file of another version is emptied.
    package var contentVersion: Int
    package var maximumPendingJobs = 512
    /// The maximum size of bodies that wait to be written in bytes; a single one may be larger.
    package var maximumPendingBytes = 64 << 20
    /// The time that a reader waits before it continues without the entry.
    package var readTimeLimit = Duration.milliseconds(500)
    /// The interval between attempts to write to a full disk.
    package var fullDelay = Duration.seconds(10)
    /// The time that the store works without its file after a failure; doubled with each failure that follows soon.
    package var retryDelay = Duration.seconds(60)
    /// The maximum of the doubled delays.
    package var maximumRetryDelay = Duration.seconds(3_600)

    package init(folder: String, capacities: [DiskShare: Int], contentVersion: Int) {
        self.folder = folder
        self.capacities = capacities
        self.contentVersion = contentVersion
    }
}

/// The contents and counts of a share; sizes in bytes.
package struct DiskShareStatistics: Sendable, Equatable {
    package var usage = 0
    package var capacity = 0
    package var entries = 0
    /// The number of lookups that found their key, intact.
    package var hits = 0
    /// The number of lookups that did not, or not in time.
    package var misses = 0
    /// The number of bytes evicted to make room.
    package var evictedBytes = 0
}

/// The state and counts of the whole store; sizes in bytes.
package struct DiskStatistics: Sendable, Equatable {
    package var shares: [DiskShare: DiskShareStatistics] = [:]
    /// The number of writes dropped because too many were waiting.
    package var droppedWrites = 0
    /// The number of entries with a wrong checksum.
    package var damagedEntries = 0
    /// The number of times that the file was damaged and emptied.
    package var damagedFiles = 0
    /// The number of times that the file was missing from its folder, or replaced there.
    package var lostFiles = 0
    package var noteUsage = 0
    package var tagUsage = 0
    /// The number of times that the file failed and was not used for a while.
    package var failures = 0
    package var fullDisks = 0
    /// Whether the disk is full, so that the file is read-only.
    package var isFull = false
    package var isWorking = true
}

extension DiskStatistics {
    /// The statistics of a share; empty if unknown.
    subscript(share: DiskShare) -> DiskShareStatistics {
        get { shares[share, default: DiskShareStatistics()] }
        set { shares[share] = newValue }
    }
}

/// The number of entries and their size in bytes.
package struct DiskUsage: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
}
