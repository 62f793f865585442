/// The state and the counts of the shared cache.
package struct SharedStoreStatistics: Sendable, Equatable {
    /// How a look-up ended.
    package enum Result: String, Sendable, CaseIterable {
        /// A value was found, and is as it was written.
        case hit
        /// There is none, or one from before a removal.
        case miss
        /// The value is not as it was written.
        case rejected
        /// No answer came in time.
        case timeout
        /// The server refused, or the connection ended.
        case error
    }

    /// `up`, `full`, `suspended` or `down`.
    package var state = TierHealth.State.down.rawValue
    /// Whether it has no room for writes.
    package var isFull = false
    /// Look-ups by their ends; those that were not tried are not counted.
    package var requests: [Result: Int] = [:]
    /// Bytes of writes that the server has not confirmed yet.
    package var queueBytes = 0
    /// Writes that were confirmed.
    package var writes = 0
    /// Writes that were given up.
    package var droppedWrites = 0
    /// Bytes of notes of tags that the server has not confirmed yet.
    package var noteBytes = 0
    /// Sources that were noted under a tag, which does not count as a write.
    package var notes = 0
    /// Sources that were not noted under a tag, because too much waited, or the place took none.
    package var droppedNotes = 0

    /// Whether the server is in use.
    package var isUp: Bool { state == TierHealth.State.up.rawValue || state == Self.full }

    /// The state of a place that is in use and has no room.
    static let full = "full"

    /// Shows a state.
    mutating func show(_ health: TierHealth.State, isFull: Bool) {
        self.isFull = isFull
        state = health == .up && isFull ? Self.full : health.rawValue
    }
}
