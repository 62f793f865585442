import CPNG
import Memory

let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

/// W3C PNG section 5.3, up to the end of the file.
struct PNGChunks {
    struct Chunk {
        let type: Int
        let data: Range<Int>
        /// Includes length and checksum, which may end after the file.
        let range: Range<Int>
    }

    private var offset: Int

    init(from offset: Int = pngSignature.count) { self.offset = offset }

    mutating func next(in bytes: RawSpan) -> Chunk? {
        guard offset <= bytes.byteCount - 8, let length = try? bytes.bigEndian32(at: offset) else { return nil }
        let range = offset..<offset + 12 + length
        defer { offset = range.upperBound }
        return Chunk(type: offset + 4, data: offset + 8..<min(range.upperBound - 4, bytes.byteCount), range: range)
    }
}

extension ByteAccumulator {
    mutating func append(chunk type: StaticString, _ data: UnsafeRawBufferPointer...) {
        append(unsafe data.map(\.count).reduce(0, +).bigEndianBytes(4))
        let letters = unsafe UnsafeRawBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        var checksum: UInt32 = 0
        let parts = unsafe [letters] + data
        for index in unsafe parts.indices {
            unsafe append(parts[index])
            checksum = unsafe CPNGShim_checksum(checksum, parts[index].baseAddress, parts[index].count)
        }
        append(checksum.bigEndianBytes())
    }

    mutating func append(chunk type: StaticString, _ data: [UInt8]) {
        unsafe data.withUnsafeBytes { unsafe append(chunk: type, $0) }
    }
}

extension SharedBytes {
    /// After the first chunk of a file that the service encoded.
    func inserting(chunk type: StaticString, _ data: [UInt8]) -> SharedBytes {
        let place = pngSignature.count + 25
        guard count > place else { return self }
        var chunk = ByteAccumulator()
        chunk.append(chunk: type, data)
        return replacing(place..<place, with: chunk.finish())
    }
}
