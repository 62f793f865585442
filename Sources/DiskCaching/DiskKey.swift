/// The key of an entry: its share, its name, and the source that it was made from.
///
/// Names are kept as their hashes: all keys have one length, and the file contains no URL.
package struct DiskKey: Hashable, Sendable {
    let share: DiskShare
    let name: [UInt8]
    let source: [UInt8]

    /// The key of `name` in `share`, for an entry made from the source of that name.
    package init(_ share: DiskShare, name: [UInt8], source: [UInt8]) {
        self.share = share
        self.name = Checksum.of(name)
        self.source = Checksum.of(source)
    }
}
