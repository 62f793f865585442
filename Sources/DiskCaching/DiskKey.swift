import Memory

/// The hash of a name: all keys have the same length, and the file contains no URLs.
package struct DiskKey: Hashable, Sendable {
    let partition: DiskPartition
    let name: [UInt8]
    let source: [UInt8]

    package init(_ partition: DiskPartition, name: [UInt8], source: [UInt8]) {
        self.partition = partition
        self.name = Checksum.of(name)
        self.source = Checksum.of(source)
    }
}

extension CacheValue {
    var cost: Int { Self.cost(of: head.count + body.count) }

    /// Returns the size in whole pages, or quarters of a page for small rows.
    static func cost(of bytes: Int) -> Int {
        let bytes = bytes + 160
        return bytes <= 1_024 ? 1_024 : (bytes + 4_095) & ~4_095
    }

    /// Returns the checksum, which includes the key to detect an index that leads to the row of another key.
    func checksum(under key: DiskKey) -> [UInt8] {
        var sum = Checksum()
        sum.add([UInt8(key.partition.rawValue)])
        for bytes in [key.name, key.source, head] { sum.add(bytes) }
        sum.add(body)
        return sum.finish()
    }
}
