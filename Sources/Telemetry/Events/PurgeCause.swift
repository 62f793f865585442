/// Why entries were removed from the caches, by its name on the wire.
package enum PurgeCause: String, Sendable, CaseIterable {
    /// An operator wanted it.
    case `operator`
    /// An operator of another instance wanted it, and the shared cache told this one.
    case fleet
    /// A cache had reached its capacity.
    case full
    /// The memory budget, or the machine's memory, was short.
    case memory
    /// The origin has a newer version of the source.
    case changed
    /// The origin does not have the source any more.
    case gone
    /// The origin says that the source may not be kept.
    case notStorable = "not_storable"
    /// The source cannot be decoded.
    case broken
    /// The source lacked pixels, and was kept for a short time only.
    case incomplete
    /// A client had sent the source, and its requests are over.
    case sent
}
