import CBrotli
import CZlib
import Memory

/// Decodes bodies on the thread that calls it, piece by piece, so that a bound is noticed where it is passed.
struct ContentDecoding {
    /// Most bytes of a decoded body.
    let maximumBytes: Int
    /// Called before each piece of so many bytes is kept; what it throws ends the work.
    let willKeep: (Int) throws -> Void

    /// Bytes of one piece.
    private static let pieceBytes = 64 << 10

    /// The bytes of a body without its coding.
    ///
    /// - Throws: ``DownloadError/undecodable(_:)``, ``DownloadError/tooLarge``, or what `willKeep` throws.
    func decode(_ coded: SharedBytes, _ coding: ContentCoding) throws -> SharedBytes {
        var decoded = ByteAccumulator()
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { unsafe piece.deallocate() }
        try unsafe coded.withUnsafeBytes { input in
            switch coding {
            case .gzip, .deflate: try unsafe inflate(input, isGzip: coding == .gzip, piece, &decoded)
            case .brotli: try unsafe readBrotli(input, piece, &decoded)
            }
        }
        return decoded.finish()
    }

    @unsafe
    private func keep(_ piece: UnsafeRawBufferPointer, in decoded: inout ByteAccumulator) throws {
        guard decoded.count + piece.count <= maximumBytes else { throw DownloadError.tooLarge }
        try willKeep(piece.count)
        unsafe decoded.append(piece)
    }

    /// Reads gzip with all its members, a zlib stream, or one without its header, as browsers do for `deflate`.
    ///
    /// Bytes after the end are ignored.
    @unsafe
    private func inflate(
        _ input: UnsafeRawBufferPointer, isGzip: Bool, _ piece: UnsafeMutableRawBufferPointer,
        _ decoded: inout ByteAccumulator
    ) throws {
        let name = isGzip ? "gzip" : "deflate"
        var stream = unsafe z_stream()
        unsafe stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        unsafe stream.avail_in = UInt32(clamping: input.count)
        let windowBits: Int32 = unsafe isGzip ? 15 + 16 : Self.hasZlibHeader(input) ? 15 : -15
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw DownloadError.internal("zlib does not start")
        }
        defer { unsafe inflateEnd(&stream) }
        while true {
            unsafe stream.next_out = piece.bindMemory(to: UInt8.self).baseAddress
            unsafe stream.avail_out = UInt32(piece.count)
            let status = unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
            try unsafe keep(
                UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - Int(stream.avail_out))]), in: &decoded)
            switch status {
            case Z_OK: continue
            case Z_STREAM_END:
                let rest = unsafe input.suffix(Int(stream.avail_in))
                guard isGzip, unsafe rest.starts(with: [0x1f, 0x8b]), unsafe inflateReset(&stream) == Z_OK else {
                    return
                }
            case Z_MEM_ERROR: throw DownloadError.memoryFull
            case Z_BUF_ERROR: throw DownloadError.undecodable("\(name) that is cut short")
            default: throw DownloadError.undecodable("no valid \(name)")
            }
        }
    }

    /// Whether bytes begin like a zlib stream (RFC 1950 section 2.2).
    @unsafe
    private static func hasZlibHeader(_ input: UnsafeRawBufferPointer) -> Bool {
        guard input.count >= 2 else { return false }
        return unsafe input[0] & 0x0f == 8 && (Int(input[0]) << 8 | Int(input[1])) % 31 == 0
    }

    @unsafe
    private func readBrotli(
        _ input: UnsafeRawBufferPointer, _ piece: UnsafeMutableRawBufferPointer, _ decoded: inout ByteAccumulator
    ) throws {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else { throw DownloadError.memoryFull }
        defer { unsafe BrotliDecoderDestroyInstance(state) }
        var next = unsafe input.bindMemory(to: UInt8.self).baseAddress
        var left = input.count
        while true {
            var room = unsafe piece.bindMemory(to: UInt8.self).baseAddress
            var roomLeft = piece.count
            let status = unsafe BrotliDecoderDecompressStream(state, &left, &next, &roomLeft, &room, nil)
            try unsafe keep(UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - roomLeft)]), in: &decoded)
            switch status {
            case BROTLI_DECODER_RESULT_SUCCESS: return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: throw DownloadError.undecodable("br that is cut short")
            default: throw DownloadError.undecodable("no valid br")
            }
        }
    }
}
