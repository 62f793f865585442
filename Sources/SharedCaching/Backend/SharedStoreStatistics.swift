package struct SharedStoreStatistics: Sendable, Equatable {
    package enum Result: String, Sendable, CaseIterable {
        case hit
        /// No value, or one older than a removal.
        case miss
        /// A corrupt value, or one not signed by an instance.
        case rejected
        case timeout
        case error
    }

    enum Queue: Sendable {
        case values
        case tags
    }

    package struct Writes: Sendable, Equatable {
        package var bytes = 0
        package var written = 0
        /// Writes that were rejected, or dropped because too many waited.
        package var dropped = 0
    }

    /// The state: `up`, `full`, `suspended` or `down`.
    package var state = StoreHealth.State.down.rawValue
    package var isFull = false
    /// Requests by result, without skipped lookups.
    package var requests: [Result: Int] = [:]
    package var values = Writes()
    package var tags = Writes()
    static let full = "full"

    subscript(queue: Queue) -> Writes {
        get { queue == .values ? values : tags }
        set { if queue == .values { values = newValue } else { tags = newValue } }
    }
}
