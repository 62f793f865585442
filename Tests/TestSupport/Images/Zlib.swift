/// Writes the parts of zlib's formats that uncompressed files need.
package enum Zlib {
    /// `bytes` as a zlib stream of stored blocks.
    package static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(bytes.count, start + 65_535)
            let count = end - start
            stream.append(end == bytes.count ? 1 : 0)
            stream += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8 & 255)]
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        var low = 1
        var high = 0
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + (high << 16 | low).bigEndian32
    }

    /// A zlib stream that inflates to `count` zeros, about 160 times its length.
    package static func zeros(_ count: Int) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var pending = 0
        var bits = 0
        func append(_ value: Int, _ length: Int) {
            pending |= value << bits
            bits += length
            while bits >= 8 {
                stream.append(UInt8(pending & 255))
                pending >>= 8
                bits -= 8
            }
        }
        // One final block with fixed codes (RFC 1951 section 3.2.6), written from their highest bit: a zero, copies of
        // 258 bytes at distance 1, then single zeros.
        append(0b1 | 0b01 << 1, 3)
        append(0b0000_1100, 8)
        for _ in 0..<(count - 1) / 258 { append(0b00000_10100011, 13) }
        for _ in 0..<(count - 1) % 258 { append(0b0000_1100, 8) }
        append(0, 7)
        append(0, 7)
        return stream + ((count % 65_521) << 16 | 1).bigEndian32
    }

    package static func checksum32(_ bytes: [UInt8]) -> Int {
        Int(~bytes.reduce(0xFFFF_FFFF as UInt32) { table[Int(UInt8($0 & 255) ^ $1)] ^ $0 >> 8 })
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}

extension Int {
    /// Big-endian bytes of a 32-bit number.
    package var bigEndian32: [UInt8] { [24, 16, 8, 0].map { UInt8(self >> $0 & 255) } }

    /// Big-endian bytes of a 16-bit number.
    package var bigEndian16: [UInt8] { [UInt8(self >> 8 & 255), UInt8(self & 255)] }

    /// Little-endian bytes of a 16-bit number.
    package var littleEndian16: [UInt8] { [UInt8(self & 255), UInt8(self >> 8 & 255)] }

    /// Little-endian bytes of a 32-bit number.
    package var littleEndian32: [UInt8] { bigEndian32.reversed() }
}

/// EXIF blocks.
package enum EXIF {
    /// A big-endian block with only an orientation, 1…8.
    package static func block(orientation: Int) -> [UInt8] {
        Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1] + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0]
            + [0, 0, 0, 0]
    }
}
