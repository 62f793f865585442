/// A kind of entries with its own capacity; the file stores the raw values.
package enum DiskPartition: Int, Sendable, CaseIterable {
    /// Files as received from origins.
    case source = 1
    case result = 2
    /// A source's record, without its bytes.
    case record = 3
}
