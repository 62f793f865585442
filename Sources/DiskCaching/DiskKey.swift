/// Where an entry is found: its share, its name, and the source that it was made from.
///
/// Names are kept as their sums: keys of one length whatever they stand for, and no address in the file.
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
