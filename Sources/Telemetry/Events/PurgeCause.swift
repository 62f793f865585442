package enum PurgeCause: String, Sendable, CaseIterable {
    case `operator`
    /// The shared cache relayed the purge of another instance's operator.
    case fleet
    /// A cache reached its capacity.
    case full
    /// The memory budget was exceeded, or the machine ran short of memory.
    case memory
    case changed
    case gone
    case notStorable = "not_storable"
    case broken
    /// Stored only for a short time, because it is truncated.
    case incomplete
    /// Uploaded by a client, whose requests have finished.
    case sent
}
