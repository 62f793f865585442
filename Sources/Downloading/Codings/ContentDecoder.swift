import CBrotli
import CZlib
import Crypto
import Memory

/// Decodes a body step by step, so that several bodies can take turns; not for concurrent use.
@safe
final class ContentDecoder: @unchecked Sendable {
    @safe
    private enum Stream {
        case zlib(UnsafeMutablePointer<z_stream>)
        case brotli(OpaquePointer)
    }

    private let coded: SharedBytes
    private let coding: ContentCoding
    private let maximumBytes: Int
    private let willKeep: (_ count: Int, _ window: Int) throws -> Void
    private let stream: Stream
    private let piece: UnsafeMutableRawBufferPointer
    private var offset = 0
    private var members = 1
    private var decoded = ByteAccumulator()
    private var hash = SHA256()

    /// Maximum bytes of a piece, encoded and decoded; even a malicious piece takes only a few milliseconds.
    private static let codedPiece = 4 << 10
    private static let decodedPiece = 64 << 10
    /// The maximum number of members of a gzip body; bgzip and similar tools put 64 KiB into each.
    private static let maximumMembers = 4_096
    /// The maximum number of decoded bytes that libbrotli retains.
    private static let brotliWindow = 16 << 20

    /// - Parameter willKeep: Called before each piece is stored, with its size and the number of bytes that the library
    ///   retains; an error ends the decode.
    init(
        _ coded: SharedBytes, _ coding: ContentCoding, maximumBytes: Int,
        willKeep: @escaping (_ count: Int, _ window: Int) throws -> Void
    ) throws(DownloadError) {
        stream =
            switch coding {
            case .gzip: try Self.zlib(windowBits: 15 + 16)
            // A zlib or raw deflate stream: browsers accept both.
            case .deflate: try Self.zlib(windowBits: coded.withBytes(Self.hasZlibHeader) ? 15 : -15)
            case .brotli: try Self.brotli()
            }
        self.coded = coded
        self.coding = coding
        self.maximumBytes = maximumBytes
        self.willKeep = willKeep
        unsafe piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.decodedPiece, alignment: 16)
    }

    deinit {
        unsafe piece.deallocate()
        switch stream {
        case .zlib(let stream):
            unsafe inflateEnd(stream)
            unsafe stream.deallocate()
        case .brotli(let state): unsafe BrotliDecoderDestroyInstance(state)
        }
    }

    private static func zlib(windowBits: Int32) throws(DownloadError) -> Stream {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            unsafe stream.deallocate()
            throw .memoryFull
        }
        return unsafe .zlib(stream)
    }

    private static func brotli() throws(DownloadError) -> Stream {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else { throw .memoryFull }
        return unsafe .brotli(state)
    }

    private static func hasZlibHeader(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount >= 2 else { return false }
        let first = unsafe Int(bytes.unsafeLoad(as: UInt8.self))
        let second = unsafe Int(bytes.unsafeLoad(fromByteOffset: 1, as: UInt8.self))
        return first & 0x0f == 8 && (first << 8 | second) % 31 == 0
    }

    /// Decodes the next piece, and returns whether it was the last one; ignores bytes after the end.
    func step() throws -> Bool {
        try unsafe coded.withUnsafeBytes { input in
            let next = unsafe UnsafeRawBufferPointer(rebasing: input[offset...].prefix(Self.codedPiece))
            switch stream {
            case .zlib(let stream): return try unsafe inflate(stream, next, of: input)
            case .brotli(let state): return try unsafe readBrotli(state, next)
            }
        }
    }

    func finish() -> (bytes: SharedBytes, digest: SHA256Digest) {
        var whole = ByteAccumulator()
        var hash = SHA256()
        swap(&whole, &decoded)
        swap(&hash, &self.hash)
        return (whole.finish(), hash.finalize())
    }

    private func keep(_ count: Int) throws {
        guard decoded.count + count <= maximumBytes else { throw DownloadError.tooLarge }
        try willKeep(count, coding == .brotli ? min(decoded.count + count, Self.brotliWindow) : 0)
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: piece[..<count])
        unsafe decoded.append(bytes)
        unsafe hash.update(bytes.bytes)
    }

    @unsafe
    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ next: UnsafeRawBufferPointer, of input: UnsafeRawBufferPointer
    ) throws -> Bool {
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: next.bindMemory(to: UInt8.self).baseAddress)
        unsafe stream.pointee.avail_in = UInt32(next.count)
        unsafe stream.pointee.next_out = piece.bindMemory(to: UInt8.self).baseAddress
        unsafe stream.pointee.avail_out = UInt32(piece.count)
        let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        unsafe offset += next.count - Int(stream.pointee.avail_in)
        try unsafe keep(piece.count - Int(stream.pointee.avail_out))
        switch status {
        case Z_OK: return false
        case Z_STREAM_END:
            guard coding == .gzip, unsafe input[offset...].starts(with: [0x1f, 0x8b]) else { return true }
            members += 1
            guard members <= Self.maximumMembers else { throw DownloadError.undecodable("gzip of too many members") }
            guard unsafe inflateReset(stream) == Z_OK else { return true }
            return false
        case Z_MEM_ERROR: throw DownloadError.memoryFull
        case Z_BUF_ERROR: throw DownloadError.undecodable("truncated \(coding.rawValue)")
        default: throw DownloadError.undecodable("no valid \(coding.rawValue)")
        }
    }

    @unsafe
    private func readBrotli(_ state: OpaquePointer, _ input: UnsafeRawBufferPointer) throws -> Bool {
        var next = unsafe input.bindMemory(to: UInt8.self).baseAddress
        var left = input.count
        var room = unsafe piece.bindMemory(to: UInt8.self).baseAddress
        var roomLeft = unsafe piece.count
        let status = unsafe BrotliDecoderDecompressStream(state, &left, &next, &roomLeft, &room, nil)
        offset += input.count - left
        try unsafe keep(piece.count - roomLeft)
        switch status {
        case BROTLI_DECODER_RESULT_SUCCESS: return true
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return false
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
            guard offset < coded.count else { throw DownloadError.undecodable("truncated br") }
            return false
        default: throw DownloadError.undecodable("no valid br")
        }
    }
}
