import CZlib
import Coordination
import Memory
import TestSupport

@testable import Imaging
@testable import Recipes

/// A PNG with any rows, filters and compression, which is decoded by our decoder and by libvips.
struct ReferencePNG: CustomStringConvertible {
    /// The compression of the rows.
    struct Compression {
        var level: Int32 = 6
        var strategy: Int32 = Z_DEFAULT_STRATEGY
        /// Bits of the window size, 9 to 15.
        var window: Int32 = 15
        /// Number of rows per block; 0 lets zlib choose.
        var blockRows = 0
        var flush: Int32 = Z_BLOCK
    }

    /// The content of rows before compression.
    enum Content: CaseIterable {
        case noise, residuals, zeros, runs, near, far
    }

    var writer: PNGWriter
    var compression = Compression()
    var content = Content.residuals
    /// The filter of all rows; nil for random filters.
    var filter: UInt8?
    var seed: UInt64 = 1

    init(_ colorType: PNGWriter.ColorType, depth: Int = 8, _ width: Int, _ height: Int) {
        writer = PNGWriter(width: width, height: height, colorType: colorType)
        writer.bitDepth = depth
        if colorType == .palette {
            writer.palette = (0..<3 * min(200, 1 << depth)).map { UInt8($0 * 77 & 255) }
        }
    }

    var description: String {
        "\(writer.width)×\(writer.height) \(writer.colorType) of \(writer.bitDepth) bits"
            + "\(writer.isInterlaced ? " in passes" : ""), \(writer.transparency.count) transparent, \(content), "
            + "filter \(filter.map(String.init) ?? "any"), \(compression), \(writer.rowsChunk) bytes a chunk, seed \(seed)"
    }

    var file: SharedBytes { SharedBytes(writer.file(deflated: deflated())) }

    func deflated() -> [UInt8] {
        var random = RandomBytes(seed: seed)
        var all: [UInt8] = []
        var ends: [Int] = []
        for size in writer.rowSizes {
            all.append(filter ?? random.next() % 5)
            random.append(size, of: content, to: &all)
            ends.append(all.count)
        }
        var stream = unsafe z_stream()
        unsafe deflateInit2_(
            &stream, compression.level, Z_DEFLATED, compression.window, 8, compression.strategy, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        var result = [UInt8](repeating: 0, count: all.count * 2 + ends.count * 32 + 1_000)
        unsafe all.withUnsafeMutableBufferPointer { input in
            unsafe result.withUnsafeMutableBufferPointer { output in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                var start = 0
                for (index, end) in ends.enumerated() {
                    let isEnd = index == ends.count - 1
                    guard isEnd || compression.blockRows > 0 && index % compression.blockRows == 0 else { continue }
                    unsafe stream.avail_in = UInt32(end - start)
                    unsafe deflate(&stream, isEnd ? Z_FINISH : compression.flush)
                    start = end
                }
            }
        }
        defer { unsafe deflateEnd(&stream) }
        return unsafe Array(result.prefix(Int(stream.total_out)))
    }

    /// The image from our own decoder; nil if it falls back to libvips.
    static func quick(_ file: SharedBytes, _ plan: DecodePlan, token: WorkToken = WorkToken()) throws -> DecodedPixels?
    {
        try PNGPixels.decode(
            PNGTrimmer.trim(file), header: .inspect(file), plan: plan, token: token,
            allocate: { try PlaneMemory(count: $0) })
    }
}

/// Pseudorandom bytes.
private struct RandomBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt8 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 24)
    }

    mutating func append(_ count: Int, of content: ReferencePNG.Content, to bytes: inout [UInt8]) {
        let end = bytes.count + count
        while bytes.count < end {
            switch content {
            case .noise: bytes.append(next())
            case .residuals: bytes.append(UInt8(truncatingIfNeeded: Int(next() % 8) * Int(next() % 4) - 6))
            case .zeros: bytes.append(0)
            case .runs: bytes += repeatElement(next(), count: 1 + Int(next()) % 90 * Int(next() % 8))
            case .near: repeatBytes(from: 1 + Int(next()) % 24, in: &bytes)
            case .far: repeatBytes(from: 32_768 - Int(next()) % 300, in: &bytes)
            }
        }
        bytes.removeLast(bytes.count - end)
    }

    private mutating func repeatBytes(from distance: Int, in bytes: inout [UInt8]) {
        for _ in 0..<next() % 6 { bytes.append(next()) }
        guard distance <= bytes.count else { return bytes.append(next()) }
        for _ in 0..<3 + Int(next()) { bytes.append(bytes[bytes.count - distance]) }
    }
}
