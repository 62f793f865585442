import Crypto
import Memory

/// The first half of the SHA-256 of stored bytes.
///
/// With hardware support, libcrypto computes it at more than a gigabyte per second, and unlike a CRC it has no
/// accidental collisions. Each value is hashed with its length, so that different lists have different hashes.
struct Checksum: ~Copyable {
    /// The length in bytes.
    static let length = 16

    private var hash = SHA256()

    mutating func add(_ bytes: [UInt8]) { add(SharedBytes(bytes)) }

    mutating func add(_ bytes: SharedBytes) {
        let length = SharedBytes(bytes.count.littleEndianBytes())
        length.withBytes { hash.update($0) }
        bytes.withBytes { hash.update($0) }
    }

    consuming func finish() -> [UInt8] { Array(hash.finalize().bytes.prefix(Self.length)) }

    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var sum = Checksum()
        sum.add(bytes)
        return sum.finish()
    }
}
