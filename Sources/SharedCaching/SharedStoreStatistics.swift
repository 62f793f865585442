package struct SharedStoreStatistics: Sendable, Equatable {
    package enum Result: String, Sendable, CaseIterable {
        /// A valid value was found.
        case hit
        /// There is no value, or one from before a removal.
        case miss
        /// The value is corrupt or not sealed by an instance.
        case rejected
        case timeout
        /// The server rejected the command, or the connection ended.
        case error
    }

    /// `up`, `full`, `suspended` or `down`.
    package var state = TierHealth.State.down.rawValue
    /// Whether it has no room for writes.
    package var isFull = false
    /// The number of lookups by outcome, excluding those that were not tried.
    package var requests: [Result: Int] = [:]
    package var queueBytes = 0
    package var writes = 0
    package var droppedWrites = 0
    /// The size of unconfirmed records of tags in bytes.
    package var noteBytes = 0
    /// The number of sources recorded under a tag, which do not count as writes.
    package var notes = 0
    /// The number of sources not recorded under a tag, because too many were waiting, or the place rejected them.
    package var droppedNotes = 0

    package var isUp: Bool { state == TierHealth.State.up.rawValue || state == Self.full }

    /// The state of a place that is in use but has no room.
    static let full = "full"

    mutating func show(_ health: TierHealth.State, isFull: Bool) {
        self.isFull = isFull
        state = health == .up && isFull ? Self.full : health.rawValue
    }
}
