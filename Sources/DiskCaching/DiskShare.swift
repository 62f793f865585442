/// A part of the store with its own bound; the raw value is written to the file.
package enum DiskShare: Int, Sendable, CaseIterable {
    /// Files as origins sent them.
    case source = 1
    /// Encoded results.
    case result = 2
    /// The record of a source, without its bytes.
    case record = 3
}

/// The folder and limits of the store; sizes in bytes.
package struct DiskStoreConfiguration: Sendable {
    /// The folder; it and the folders above it are made if they are missing.
    package var folder: String
    /// Bytes that each share may occupy; a share that is not named keeps nothing.
    package var capacities: [DiskShare: Int]
    /// Bytes that all notes together may occupy.
    package var noteCapacity = 16 << 20
    /// Version of the callers' entry headers, names and notes: a file of another version is emptied.
    package var contentVersion: Int
    /// Work that may wait for the disk.
    package var maximumPendingJobs = 512
    /// Bytes of bodies that may wait to be written; a single one may be larger.
    package var maximumPendingBytes = 64 << 20
    /// How long a reader waits before it goes without.
    package var readTimeLimit = Duration.milliseconds(500)
    /// How often a disk that is full is tried again.
    package var fullDelay = Duration.seconds(10)
    /// How long the store does without its file after a failure; doubled with each that follows soon.
    package var retryDelay = Duration.seconds(60)
    /// Upper bound of the doubled delays.
    package var maximumRetryDelay = Duration.seconds(3_600)

    /// A store in `folder`.
    package init(folder: String, capacities: [DiskShare: Int], contentVersion: Int) {
        self.folder = folder
        self.capacities = capacities
        self.contentVersion = contentVersion
    }
}

/// A share's contents and counts; sizes in bytes.
package struct DiskShareStatistics: Sendable, Equatable {
    /// Bytes occupied.
    package var usage = 0
    /// Bytes that may be occupied.
    package var capacity = 0
    package var entries = 0
    /// Look-ups that found their key, intact.
    package var hits = 0
    /// Look-ups that did not find it, or not in time.
    package var misses = 0
    /// Bytes taken to make room.
    package var evictedBytes = 0
}

/// The state and counts of the whole store.
package struct DiskStatistics: Sendable, Equatable {
    package var shares: [DiskShare: DiskShareStatistics] = [:]
    /// Writes dropped because too much was waiting.
    package var droppedWrites = 0
    /// Entries whose checksum was wrong.
    package var damagedEntries = 0
    /// Times that the file was found damaged and emptied.
    package var damagedFiles = 0
    /// Times that the file was found gone from its folder, or replaced there.
    package var lostFiles = 0
    /// Bytes occupied by notes.
    package var noteUsage = 0
    /// Bytes occupied by the tags of sources.
    package var tagUsage = 0
    /// Times that the file failed and was not used for a while.
    package var failures = 0
    /// Times that the disk was found full.
    package var fullDisks = 0
    /// Whether the disk has no room, so that the file is only read.
    package var isFull = false
    /// Whether the file is in use at this moment.
    package var isWorking = true
}

extension DiskStatistics {
    /// The statistics of a share; those of a new one if nothing is known of it.
    subscript(share: DiskShare) -> DiskShareStatistics {
        get { shares[share, default: DiskShareStatistics()] }
        set { shares[share] = newValue }
    }
}

/// Entries and the bytes that they occupy.
package struct DiskUsage: Sendable, Equatable {
    package var entries = 0
    package var bytes = 0
}
