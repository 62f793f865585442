import Crypto
import Memory

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
        sum.add([UInt8(key.share.rawValue)])
        for part in [key.name, key.source, head] { sum.add(part) }
        sum.add(body)
        return sum.finish()
    }
}

/// The hash of a name: all keys have the same length, and the file contains no URLs.
package struct DiskKey: Hashable, Sendable {
    let share: DiskShare
    let name: [UInt8]
    let source: [UInt8]

    package init(_ share: DiskShare, name: [UInt8], source: [UInt8]) {
        self.share = share
        self.name = Checksum.of(name)
        self.source = Checksum.of(source)
    }
}

/// The first half of the SHA-256 of stored bytes.
///
/// With hardware support, libcrypto computes it at more than a gigabyte per second, and unlike a CRC it has no
/// accidental collisions. Each part is hashed with its length, so that different lists of parts have different hashes.
struct Checksum: ~Copyable {
    private var hash = SHA256()

    mutating func add(_ bytes: [UInt8]) { add(SharedBytes(bytes)) }

    mutating func add(_ bytes: SharedBytes) {
        let length = SharedBytes(bytes.count.littleEndianBytes())
        length.withBytes { hash.update($0) }
        bytes.withBytes { hash.update($0) }
    }

    /// The length in bytes.
    static let length = 16

    consuming func finish() -> [UInt8] { Array(hash.finalize().bytes.prefix(Self.length)) }

    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var sum = Checksum()
        sum.add(bytes)
        return sum.finish()
    }
}
