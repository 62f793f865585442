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
    private let willAppend: (_ count: Int, _ window: Int) throws -> Void
    private let stream: Stream
    private let outputBuffer: UnsafeMutableRawBufferPointer
    private var offset = 0
    private var members = 1
    private var decoded = ByteAccumulator()
    private var hash = SHA256()

    /// Maximum bytes of a chunk, encoded and decoded; even a malicious chunk takes only a few milliseconds.
    private static let inputChunkBytes = 4 << 10
    private static let outputChunkBytes = 64 << 10
    /// The maximum number of members of a gzip body; bgzip and similar tools put 64 KiB into each.
    private static let maximumMembers = 4_096
    /// The maximum number of decoded bytes that libbrotli retains.
    private static let brotliWindow = 16 << 20

    /// - Parameter willAppend: Called before each chunk is stored, with its size and the bytes that the library
    ///   retains; an error ends the decode.
    init(
        _ coded: SharedBytes, coding: ContentCoding, maximumBytes: Int,
        willAppend: @escaping (_ count: Int, _ window: Int) throws -> Void
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
        self.willAppend = willAppend
        unsafe outputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.outputChunkBytes, alignment: 16)
    }

    deinit {
        unsafe outputBuffer.deallocate()
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

    /// Decodes the next chunk, and returns whether it was the last one; ignores bytes after the end.
    func step() throws -> Bool {
        try unsafe coded.withUnsafeBytes { input in
            let next = unsafe UnsafeRawBufferPointer(rebasing: input[offset...].prefix(Self.inputChunkBytes))
            switch stream {
            case .zlib(let stream): return try unsafe inflate(stream, chunk: next, of: input)
            case .brotli(let state): return try unsafe decompress(state, chunk: next)
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

    private func append(_ count: Int) throws {
        guard decoded.count + count <= maximumBytes else { throw DownloadError.tooLarge }
        try willAppend(count, coding == .brotli ? min(decoded.count + count, Self.brotliWindow) : 0)
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: outputBuffer[..<count])
        unsafe decoded.append(bytes)
        unsafe hash.update(bytes.bytes)
    }

    @unsafe
    private func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, chunk next: UnsafeRawBufferPointer, of input: UnsafeRawBufferPointer
    ) throws -> Bool {
        unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: next.bindMemory(to: UInt8.self).baseAddress)
        unsafe stream.pointee.avail_in = UInt32(next.count)
        unsafe stream.pointee.next_out = outputBuffer.bindMemory(to: UInt8.self).baseAddress
        unsafe stream.pointee.avail_out = UInt32(outputBuffer.count)
        let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        unsafe offset += next.count - Int(stream.pointee.avail_in)
        try unsafe append(outputBuffer.count - Int(stream.pointee.avail_out))
        switch status {
        case Z_OK: return false
        case Z_STREAM_END:
            guard coding == .gzip, unsafe input[offset...].starts(with: [0x1f, 0x8b]) else { return true }
            members += 1
            guard members <= Self.maximumMembers else {
                throw DownloadError.undecodable("a gzip body of more than \(Self.maximumMembers) members")
            }
            guard unsafe inflateReset(stream) == Z_OK else { return true }
            return false
        case Z_MEM_ERROR: throw DownloadError.memoryFull
        case Z_BUF_ERROR: throw DownloadError.undecodable("truncated \(coding.rawValue)")
        default: throw DownloadError.undecodable("invalid \(coding.rawValue)")
        }
    }

    @unsafe
    private func decompress(_ state: OpaquePointer, chunk input: UnsafeRawBufferPointer) throws -> Bool {
        var next = unsafe input.bindMemory(to: UInt8.self).baseAddress
        var inputLeft = input.count
        var output = unsafe outputBuffer.bindMemory(to: UInt8.self).baseAddress
        var outputLeft = unsafe outputBuffer.count
        let status = unsafe BrotliDecoderDecompressStream(state, &inputLeft, &next, &outputLeft, &output, nil)
        offset += input.count - inputLeft
        try unsafe append(outputBuffer.count - outputLeft)
        switch status {
        case BROTLI_DECODER_RESULT_SUCCESS: return true
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return false
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
            guard offset < coded.count else { throw DownloadError.undecodable("truncated br") }
            return false
        default: throw DownloadError.undecodable("invalid br")
        }
    }
}
