/// Why entries were removed from the caches; raw values are the names on the wire.
package enum PurgeCause: String, Sendable, CaseIterable {
    /// An operator removed the source.
    case `operator`
    /// An operator of another instance removed the source; the shared cache relayed it.
    case fleet
    /// A cache reached its capacity.
    case full
    /// The memory budget was exceeded, or the machine ran short of memory.
    case memory
    /// The origin has a newer version of the source.
    case changed
    /// The origin no longer has the source.
    case gone
    /// The origin forbids storing the source.
    case notStorable = "not_storable"
    case broken
    /// The source is truncated, and was stored only for a short time.
    case incomplete
    /// A client uploaded the source, and its requests have finished.
    case sent
}
