import CPNGShim
import Memory

let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

extension ByteAccumulator {
    /// Appends a chunk (W3C PNG section 5.3).
    ///
    /// - Parameters:
    ///   - type: Its four letters.
    ///   - data: Its data, in parts.
    mutating func append(chunk type: StaticString, _ data: UnsafeRawBufferPointer...) {
        append(unsafe data.map(\.count).reduce(0, +).bigEndianBytes(4))
        let letters = unsafe UnsafeRawBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        var checksum: UInt32 = 0
        for index in unsafe 0...data.count {
            let part = unsafe index == 0 ? letters : data[index - 1]
            unsafe append(part)
            checksum = unsafe CPNGShim_checksum(checksum, part.baseAddress, part.count)
        }
        append(checksum.bigEndianBytes())
    }

    mutating func append(chunk type: StaticString, _ data: [UInt8]) {
        unsafe data.withUnsafeBytes { unsafe append(chunk: type, $0) }
    }
}

extension SharedBytes {
    /// Returns this PNG file, encoded by the service, with a chunk inserted after the first one.
    func inserting(chunk type: StaticString, _ data: [UInt8]) -> SharedBytes {
        let place = pngSignature.count + 25
        guard count > place else { return self }
        var chunk = ByteAccumulator()
        chunk.append(chunk: type, data)
        return JPEGSegments.joined([(0..<place, self), (0..<chunk.count, chunk.finish()), (place..<count, self)])
    }
}

extension RawSpan {
    /// Calls `body` with the type and data range of each chunk; a truncated chunk ends with the file.
    ///
    /// - Parameter body: Returns false to stop.
    func forEachPNGChunk(_ body: (_ type: Int, _ data: Range<Int>) -> Bool) {
        var offset = 8
        while let length = try? bigEndian32(at: offset), offset + 8 <= byteCount {
            let end = Swift.min(offset + 8 + length, byteCount)
            guard body(offset + 4, offset + 8..<end) else { return }
            offset += 12 + length
        }
    }
}
