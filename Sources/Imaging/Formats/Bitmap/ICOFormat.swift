import Recipes

enum ICOFormat {
    static let codec = FormatCodec(
        decoding: .init(
            // Icons have at most 255 images.
            leadingBytes: .signatures([[0: [0, 0, 1, 0], 5: [0]]]),
            header: { bytes throws(ImagingError) in try ICOImage(bytes).header },
            loader: .pixels { file, _, plan, token in try ICOPixels.decode(file, plan: plan, token: token) },
            warmUp: .file(sample)))

    private static let sample: [UInt8] =
        [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 24, 0, 48, 0, 0, 0, 22, 0, 0, 0]
        + [40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0] + [UInt8](repeating: 0, count: 24) + [
            1, 2, 3, 0, 0, 0, 0, 0,
        ]
}

/// The largest image of an icon; among equally large ones, the one with the most bits.
struct ICOImage {
    /// The range of a PNG file, or of a bitmap without its first header.
    let range: Range<Int>
    let header: ImageHeader
    let png: ImageHeader?
    /// Whether a mask of one bit per pixel follows the bitmap.
    let hasMask: Bool

    /// The number of images to try, largest first, if some are damaged.
    private static let maximum = 3

    init(_ bytes: RawSpan) throws(ImagingError) {
        var entries: [ICOEntry] = []
        for index in 0..<(try bytes.littleEndian16(at: 4)) {
            if let entry = try? ICOEntry(bytes, at: 6 + 16 * index) { entries.append(entry) }
        }
        // The first of equal images wins.
        let ordered = entries.enumerated().sorted { one, other in
            one.element.rank == other.element.rank
                ? one.offset < other.offset : one.element.rank > other.element.rank
        }
        for (_, entry) in ordered.prefix(Self.maximum) {
            guard let image = try? ICOImage(bytes, entry: entry) else { continue }
            self = image
            return
        }
        throw .cannotDecode(detail: "the icon has no image that can be read")
    }

    private init(_ bytes: RawSpan, entry: ICOEntry) throws(ImagingError) {
        range = entry.range
        hasMask = entry.hasMask
        guard entry.isPNG else {
            png = nil
            header = ImageHeader(format: .ico, storedSize: entry.size, bands: 4, hasAlpha: true)
            return
        }
        let png = try PNGHeader.read(bytes.extracting(range))
        header = ImageHeader(
            format: .ico, storedSize: png.size, bands: png.bands, bitDepth: png.bitDepth, hasAlpha: png.hasAlpha,
            isProgressive: png.isProgressive)
        self.png = png
    }
}

private struct ICOEntry {
    let range: Range<Int>
    let size: PixelSize
    let isPNG: Bool
    let hasMask: Bool
    private let bits: Int

    var rank: (Int, Int) { (size.area, bits) }

    init(_ bytes: RawSpan, at entry: Int) throws(ImagingError) {
        let length = try bytes.littleEndian32(at: entry + 8)
        let start = try bytes.littleEndian32(at: entry + 12)
        guard start < bytes.byteCount, length > 0 else {
            throw .cannotDecode(detail: "an image lies outside of its icon")
        }
        range = start..<min(start + length, bytes.byteCount)
        isPNG = bytes.hasBytes([0x89, 0x50, 0x4E, 0x47], at: start)
        if isPNG {
            size = try PixelSize(width: bytes.bigEndian32(at: start + 16), height: bytes.bigEndian32(at: start + 20))
            bits = 32
            hasMask = false
        } else {
            // The height in the bitmap's header counts both colors and mask.
            let (width, height) = try (bytes.littleEndian32(at: start + 4), bytes.littleEndian32(at: start + 8))
            let declared = try bytes.byte(at: entry + 1)
            hasMask = height != (declared == 0 ? 256 : declared)
            size = PixelSize(width: width, height: hasMask ? height / 2 : height)
            bits = try bytes.littleEndian16(at: start + 14)
            guard try bytes.littleEndian32(at: start) >= 40 else {
                throw .cannotDecode(detail: "an image in an icon has no header")
            }
        }
        guard size.isPlausible(upTo: ImageFormat.ico.maximumSide) else {
            throw .cannotDecode(detail: "an image of \(size) in an icon")
        }
    }
}
