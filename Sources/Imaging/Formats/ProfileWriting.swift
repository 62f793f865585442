import Memory

/// Inserts the Display P3 profile into color files that the service encoded, which have none.
enum ProfileWriting {
    private static let displayP3 = ColorProfile.displayP3File

    /// Inserts a segment after the first one, which is JFIF's.
    static func jpeg(_ file: SharedBytes, _ size: PixelSize) -> SharedBytes {
        guard JPEGSegments.componentCount(in: file.array) == 3 else { return file }
        let content = Array("ICC_PROFILE\0".utf8) + [1, 1] + displayP3
        return JPEGSegments.inserting(JPEGSegments.segment(0xE2, content), into: file)
    }

    /// Inserts a chunk after the first one, with the profile in stored zlib blocks (RFC 1950).
    static func png(_ file: SharedBytes, _ size: PixelSize) -> SharedBytes {
        let bytes = file.array
        let kind = 25
        guard bytes.count > kind, hasColors(file, bytes, kind: bytes[kind]) else { return file }
        let lengths = [displayP3.count, ~displayP3.count].flatMap { $0.littleEndianBytes(2) }
        let (low, high) = displayP3.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        let content =
            Array("Display P3\0\0".utf8) + [0x78, 1, 1] + lengths + displayP3 + (high << 16 | low).bigEndianBytes()
        return file.inserting(chunk: "iCCP", content)
    }

    /// Returns whether a PNG file has colors: color types 2 and 6, and palettes (3) that are not all gray.
    ///
    /// Gray is the same in all gamuts.
    private static func hasColors(_ file: SharedBytes, _ bytes: [UInt8], kind: UInt8) -> Bool {
        var hasColors = kind & 2 != 0
        guard kind == 3 else { return hasColors }
        file.withBytes { span in
            span.forEachPNGChunk { type, data in
                guard span.hasText("PLTE", at: type) else { return true }
                hasColors = stride(from: data.lowerBound, to: data.upperBound - 2, by: 3).contains {
                    bytes[$0] != bytes[$0 + 1] || bytes[$0] != bytes[$0 + 2]
                }
                return false
            }
        }
        return hasColors
    }

    /// Inserts a chunk after the extended header (RFC 9649 section 2.7).
    static func webp(_ file: SharedBytes, _ size: PixelSize) -> SharedBytes {
        guard var bytes = WebPChunks.extended(file.array, to: size, flags: 0b10_0000) else { return file }
        bytes.insert(contentsOf: WebPChunks.chunk("ICCP", displayP3), at: 30)
        return SharedBytes(WebPChunks.counted(bytes))
    }
}
