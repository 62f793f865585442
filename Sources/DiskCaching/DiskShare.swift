/// A part of the store with a bound of its own; the raw value stands in the file.
package enum DiskShare: Int, Sendable, CaseIterable {
    /// Files as origins sent them.
    case source = 1
    /// Encoded results.
    case result = 2
    /// What is known of a source apart from its bytes.
    case record = 3
}
