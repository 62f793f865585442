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
    /// Times that the file failed and was not used for a while.
    package var failures = 0
    /// Whether the file is in use at this moment.
    package var isWorking = true
}
