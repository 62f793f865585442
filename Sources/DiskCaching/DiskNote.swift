/// A small text that the store keeps under a name.
package struct DiskNote: Sendable, Equatable {
    package let name: [UInt8]
    package let bytes: [UInt8]

    /// A note of this name.
    package init(name: [UInt8], bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Bytes that the note occupies in the file.
    var cost: Int { DiskEntry.cost(of: name.count + bytes.count) }

    /// The checksum of a note.
    var checksum: [UInt8] {
        var sum = Checksum()
        sum.add(name)
        sum.add(bytes)
        return sum.finish()
    }
}
