import Crypto
import Memory

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

    /// Adds a part.
    mutating func add(_ bytes: SharedBytes) {
        let length = SharedBytes((0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) })
        length.withBytes { hash.update($0) }
        bytes.withBytes { hash.update($0) }
    }

    /// Ends the sum: 16 bytes.
    consuming func finish() -> [UInt8] {
        Array(hash.finalize().bytes.prefix(16))
    }

    /// The sum of one part.
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var sum = Checksum()
        sum.add(bytes)
        return sum.finish()
    }
}
