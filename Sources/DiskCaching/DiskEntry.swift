package import Memory

/// An entry under a key: a few bytes about it, and the bytes themselves.
package struct DiskEntry: Sendable {
    /// What the caller needs before it reads the body; small.
    package let head: [UInt8]
    /// The bytes.
    package let body: SharedBytes

    /// An entry of these parts.
    package init(head: [UInt8], body: SharedBytes) {
        self.head = head
        self.body = body
    }

    /// Bytes that the entry occupies in the file.
    var cost: Int { Self.cost(of: head.count + body.count) }

    /// Bytes that a row with so many of its own occupies in the file: rounded up to pages, small ones share a page with others.
    static func cost(of bytes: Int) -> Int {
        let bytes = bytes + 160
        return bytes <= 1_024 ? 1_024 : (bytes + 4_095) & ~4_095
    }

    /// The checksum of an entry; its key is part of it, so that an index that leads to another row is noticed.
    func checksum(under key: DiskKey) -> [UInt8] {
        var sum = Checksum()
        sum.add([UInt8(key.share.rawValue)])
        for part in [key.name, key.source, head] { sum.add(part) }
        sum.add(body)
        return sum.finish()
    }
}
