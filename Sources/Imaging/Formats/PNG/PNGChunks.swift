import CPNG
import Memory

/// The chunks of a file (W3C PNG section 5.3), up to its end.
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    struct Chunk {
        let type: Int
        let data: Range<Int>
        /// The chunk including length and checksum; it may end after the file.
        let range: Range<Int>
    }

    private var offset: Int
    private var skipping = Skipping.none

    private enum Skipping {
        case none
        case possible(dataChunks: Int)
        case failed
    }

    /// - Parameter skipsData: Whether to skip `IDAT` chunks between the first and the last.
    init(from offset: Int = signature.count, skipsData: Bool = false) {
        self.offset = offset
        if skipsData { skipping = .possible(dataChunks: 0) }
    }

    /// Whether `IDAT` chunks have different lengths, so that the last one was not found.
    var hasFailed: Bool { if case .failed = skipping { true } else { false } }

    mutating func next(in bytes: RawSpan) -> Chunk? {
        guard !hasFailed, offset <= bytes.byteCount - 8, bytes.hasChunk(at: offset + 4),
            let length = try? bytes.bigEndian32(at: offset)
        else { return nil }
        let range = offset..<offset + 12 + length
        let chunk = Chunk(type: offset + 4, data: offset + 8..<min(range.upperBound - 4, bytes.byteCount), range: range)
        offset = range.upperBound
        if case .possible(let count) = skipping, bytes.hasText("IDAT", at: chunk.type) {
            skipData(after: chunk, number: count + 1, in: bytes)
        }
        return chunk
    }

    /// Skips `IDAT` chunks of equal length; encoders write a shorter one at the end.
    ///
    /// The first may be longer or shorter. Apple's encoders write two such series.
    private mutating func skipData(after chunk: Chunk, number: Int, in bytes: RawSpan) {
        let start = chunk.range.lowerBound
        let length = chunk.range.count
        skipping = .possible(dataChunks: number)
        guard number > 1 || length > Self.shortLength else { return }
        let last = (bytes.byteCount - 8 - start) / length
        guard last > 1 else { return skipping = .none }
        // Metadata chunks may follow.
        for index in stride(from: last, through: max(1, last - max(1, Self.shortLength / length)), by: -1)
        where bytes.hasText("IDAT", at: start + index * length + 4) {
            offset = start + index * length
            skipping = .none
            return
        }
        guard let last = lastData(in: bytes) else { return skipping = .failed }
        offset = last
        skipping = .none
    }

    /// Finds the last `IDAT` chunk backward from the end; it and the following chunks must end with the file.
    private func lastData(in bytes: RawSpan) -> Int? {
        let start = max(offset, bytes.byteCount - 2 * Self.shortLength)
        return stride(from: bytes.byteCount - 24, through: start, by: -1).first { offset in
            guard bytes.hasText("IDAT", at: offset + 4) else { return false }
            var chunks = PNGChunks(from: offset)
            while let chunk = chunks.next(in: bytes) {
                if bytes.hasText("IEND", at: chunk.type) { return chunk.range.upperBound == bytes.byteCount }
            }
            return false
        }
    }

    /// Bytes that are always read after the last `IDAT` chunk; only a longer first chunk starts skipping.
    private static let shortLength = 16 << 10
}

extension ByteAccumulator {
    mutating func append(chunk type: StaticString, _ data: UnsafeRawBufferPointer...) {
        append(unsafe data.map(\.count).reduce(0, +).bigEndianBytes(4))
        let letters = unsafe UnsafeRawBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        var checksum: UInt32 = 0
        let parts = unsafe [letters] + data
        for index in unsafe parts.indices {
            unsafe append(parts[index])
            checksum = unsafe CPNG_checksum(checksum, parts[index].baseAddress, parts[index].count)
        }
        append(checksum.bigEndianBytes())
    }

    mutating func append(chunk type: StaticString, _ data: [UInt8]) {
        unsafe data.withUnsafeBytes { unsafe append(chunk: type, $0) }
    }
}

extension SharedBytes {
    /// Inserts a chunk after the first one of a file that the service encoded.
    func inserting(chunk type: StaticString, _ data: [UInt8]) -> SharedBytes {
        let offset = PNGChunks.signature.count + 25
        guard count > offset else { return self }
        var chunk = ByteAccumulator()
        chunk.append(chunk: type, data)
        return replacing(offset..<offset, with: chunk.finish())
    }
}
