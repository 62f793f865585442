import Crypto
package import Memory

/// An entry of the store: its body, and a few bytes about the body.
package struct DiskEntry: Sendable {
    /// Fields that the caller needs before it reads the body; small.
    package let head: [UInt8]
    /// The bytes that are cached.
    package let body: SharedBytes

    /// An entry of these parts.
    package init(head: [UInt8], body: SharedBytes) {
        self.head = head
        self.body = body
    }

    /// Bytes that the entry occupies in the file.
    var cost: Int { Self.cost(of: head.count + body.count) }

    /// Bytes of the file that a row of so many bytes occupies: whole pages, or a quarter of one if the row is small.
    static func cost(of bytes: Int) -> Int {
        let bytes = bytes + 160
        return bytes <= 1_024 ? 1_024 : (bytes + 4_095) & ~4_095
    }

    /// The checksum of an entry and its key.
    ///
    /// Without the key, a damaged index that leads to the row of another key would not be noticed.
    func checksum(under key: DiskKey) -> [UInt8] {
        var sum = Checksum()
        sum.add([UInt8(key.share.rawValue)])
        for part in [key.name, key.source, head] { sum.add(part) }
        sum.add(body)
        return sum.finish()
    }
}

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

/// The checksum that bytes from the file must have: the first half of their SHA-256.
///
/// libcrypto computes it at more than a gigabyte a second if the processor helps, and unlike a CRC it has no
/// accidental collisions. Each part is hashed with its length, so that no two lists of parts have the same hash.
struct Checksum: ~Copyable {
    private var hash = SHA256()

    /// Adds a small part.
    mutating func add(_ bytes: [UInt8]) {
        add(SharedBytes(bytes))
    }

    mutating func add(_ bytes: SharedBytes) {
        let length = SharedBytes(bytes.count.littleEndianBytes())
        length.withBytes { hash.update($0) }
        bytes.withBytes { hash.update($0) }
    }

    /// Bytes of a sum.
    static let length = 16

    /// Ends the sum.
    consuming func finish() -> [UInt8] {
        Array(hash.finalize().bytes.prefix(Self.length))
    }

    /// The sum of one part.
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var sum = Checksum()
        sum.add(bytes)
        return sum.finish()
    }
}
