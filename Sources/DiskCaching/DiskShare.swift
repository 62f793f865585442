/// A part of the store with its own bound; the raw value is written to the file.
package enum DiskShare: Int, Sendable, CaseIterable {
    /// Files as origins sent them.
    case source = 1
    /// Encoded results.
    case result = 2
    /// The record of a source, without its bytes.
    case record = 3
}
