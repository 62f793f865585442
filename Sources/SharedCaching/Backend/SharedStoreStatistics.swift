/// The state and counts of a shared store; sizes in bytes.
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

    /// The separate queues of writes.
    enum Queue: Sendable {
        case values
        /// Records of sources under tags.
        case tags
    }

    package struct Writes: Sendable, Equatable {
        /// The size of unconfirmed writes.
        package var bytes = 0
        package var written = 0
        /// The number of writes dropped because too many were waiting, or rejected.
        package var dropped = 0
    }

    /// `up`, `full`, `suspended` or `down`.
    package var state = StoreHealth.State.down.rawValue
    /// Whether it has no room for writes.
    package var isFull = false
    /// Lookups by outcome; skipped lookups do not count.
    package var requests: [Result: Int] = [:]
    package var values = Writes()
    package var tags = Writes()

    /// The state of a store that is in use but has no room.
    static let full = "full"

    subscript(queue: Queue) -> Writes {
        get { queue == .values ? values : tags }
        set { if queue == .values { values = newValue } else { tags = newValue } }
    }
}
