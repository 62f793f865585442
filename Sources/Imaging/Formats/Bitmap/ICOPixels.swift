import Coordination
import Memory
import Recipes

enum ICOPixels {
    static func decode(_ file: SharedBytes, plan: DecodePlan, token: WorkToken) throws -> DecodedPixels {
        let image = try file.withBytes { bytes throws(ImagingError) in try ICOImage(bytes) }
        let imageBytes = SharedBytes(image.range, of: file)
        guard let header = image.png else { return try bitmap(imageBytes, hasMask: image.hasMask, token: token) }
        let decoded = try ImageDecoder.decode(
            imageBytes, header: header, plan: DecodePlan(incompleteImages: plan.incompleteImages), limits: .none,
            token: token)
        return DecodedPixels(
            pixels: decoded.pixels, size: decoded.size, bands: decoded.bands, profile: decoded.profile?.file,
            isIncomplete: decoded.isIncomplete)
    }

    private static func bitmap(_ imageBytes: SharedBytes, hasMask: Bool, token: WorkToken) throws -> DecodedPixels {
        let (file, start, depth) = try imageBytes.withBytes { bytes throws(ImagingError) in
            try bitmapFile(bytes, hasMask: hasMask)
        }
        let colors = try BMPPixels.decode(SharedBytes(file), token: token)
        let size = colors.size
        let bands = colors.bands
        let memory = try PlaneMemory(count: 4 * size.area)
        let alpha = AlphaReader(file, size: size, start: start, depth: depth, hasMask: hasMask)
        try unsafe colors.pixels.withUnsafeBytes { source throws in
            for y in 0..<size.height {
                if y % 64 == 0 { try token.check() }
                for x in 0..<size.width {
                    let from = (y * size.width + x) * bands
                    let to = (y * size.width + x) * 4
                    for band in 0..<3 { unsafe memory.bytes[to + band] = source[from + band] }
                    unsafe memory.bytes[to + 3] = bands == 4 ? source[from + 3] : alpha.value(x: x, y: y)
                }
            }
        }
        return DecodedPixels(pixels: memory.finish(), size: size, bands: 4, isIncomplete: colors.isIncomplete)
    }

    /// Returns a bitmap file without the mask, the offset of its rows, and the bits per pixel.
    private static func bitmapFile(
        _ bytes: RawSpan, hasMask: Bool
    ) throws(ImagingError) -> (file: [UInt8], start: Int, depth: Int) {
        let length = try bytes.littleEndian32(at: 0)
        let height = try bytes.littleEndian32(at: 8) / (hasMask ? 2 : 1)
        let (depth, compression) = try (bytes.littleEndian16(at: 14), bytes.littleEndian32(at: 16))
        guard 40...124 ~= length, [0, 3].contains(compression) else {
            throw .cannotDecode(detail: "a bitmap header of \(length) bytes, compression \(compression), in an icon")
        }
        let declared = try bytes.littleEndian32(at: 32)
        let maximum = depth <= 8 ? 1 << depth : 0
        let masks = length == 40 && depth > 8 && compression == 3 ? 12 : 0
        let start = 14 + length + masks + 4 * (declared == 0 ? maximum : min(declared, maximum))
        var file = Array("BM".utf8)
        for number in [14 + bytes.byteCount, 0, start] { file += number.littleEndianBytes(4) }
        let whole = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
        file += whole[..<8] + height.littleEndianBytes(4) + whole[12...]
        return (file, start, depth)
    }
}

private struct AlphaReader {
    private let file: [UInt8]
    private let size: PixelSize
    /// The start and row length of alpha bytes or mask bits; rows go from bottom to top.
    private let start, stride: Int
    private let hasBytes: Bool

    init(_ file: [UInt8], size: PixelSize, start: Int, depth: Int, hasMask: Bool) {
        self.file = file
        self.size = size
        let row = (size.width * depth + 31) / 32 * 4
        // Old 32-bit icons leave the fourth byte zero and use a mask.
        let alphas = Swift.stride(from: start + 3, to: min(start + row * size.height, file.count), by: 4)
        hasBytes = depth == 32 && alphas.contains { file[$0] > 0 }
        self.start = hasBytes ? start + 3 : hasMask ? start + row * size.height : file.count
        stride = hasBytes ? row : (size.width + 31) / 32 * 4
    }

    func value(x: Int, y: Int) -> UInt8 {
        let offset = start + (size.height - 1 - y) * stride + (hasBytes ? 4 * x : x / 8)
        // Pixels without a mask are opaque.
        guard offset < file.count else { return 255 }
        return hasBytes ? file[offset] : file[offset] >> (7 - x % 8) & 1 == 1 ? 0 : 255
    }
}
