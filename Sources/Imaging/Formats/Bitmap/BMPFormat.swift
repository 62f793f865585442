import Recipes

enum BMPFormat {
    static let codec = FormatCodec(
        decoding: .init(
            // Text can begin with these two letters, too; no second header is longer than 255 bytes.
            leadingBytes: .signatures([[0: Array("BM".utf8), 15: [0, 0, 0]]]),
            header: { bytes throws(ImagingError) in try BMPLayout(bytes).header },
            loader: .pixels { file, _, _, token in try BMPPixels.decode(file, token: token) }))
}

struct BMPLayout {
    enum Coding: Sendable {
        case palette
        case components
        case runs
    }

    struct Component: Sendable {
        let shift: Int
        /// The maximum value; 0 if pixels lack this component.
        let largest: Int

        init(mask: Int) throws(ImagingError) {
            shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            largest = mask >> shift
            guard largest & (largest + 1) == 0 else { throw .cannotDecode(detail: "a BMP mask has gaps") }
        }
    }

    let size: PixelSize
    let isTopDown: Bool
    let depth: Int
    let coding: Coding
    /// Red, green, blue and alpha; empty for palettes.
    let components: [Component]
    /// The offset, the number of entries, and the bytes per entry.
    let palette: (offset: Int, count: Int, stride: Int)
    let pixels: Int

    var header: ImageHeader { ImageHeader(format: .bmp, storedSize: size, bands: bands, hasAlpha: bands == 4) }

    var bands: Int { components.count == 4 && components[3].largest > 0 ? 4 : 3 }

    var rowLength: Int { (size.width * depth + 31) / 32 * 4 }

    private static let longestSide = 1 << 20

    init(_ bytes: RawSpan) throws(ImagingError) {
        pixels = try bytes.littleEndian32(at: 10)
        let length = try bytes.littleEndian32(at: 14)
        let isOld = length == 12
        guard isOld || 40...124 ~= length else { throw .cannotDecode(detail: "a BMP header of \(length) bytes") }
        func side(_ index: Int) throws(ImagingError) -> Int {
            if isOld { return try bytes.littleEndian16(at: 18 + 2 * index) }
            return Int(Int32(truncatingIfNeeded: try bytes.littleEndian32(at: 18 + 4 * index)))
        }
        let (width, height) = try (side(0), side(1))
        guard 1...Self.longestSide ~= width, 1...Self.longestSide ~= abs(height) else {
            throw .cannotDecode(detail: "a BMP of \(width)×\(height)")
        }
        size = PixelSize(width: width, height: abs(height))
        isTopDown = height < 0
        depth = try bytes.littleEndian16(at: isOld ? 24 : 28)
        let compression = try isOld ? 0 : bytes.littleEndian32(at: 30)
        let colors = try isOld ? 0 : bytes.littleEndian32(at: 46)
        // Masks follow the 40-byte header or are part of longer headers.
        var masks: [Int] = []
        switch (compression, depth) {
        case (0, 1), (0, 4), (0, 8): coding = .palette
        case (0, 16): (coding, masks) = (.components, [0x7C00, 0x03E0, 0x001F])
        case (0, 24), (0, 32): (coding, masks) = (.components, [0xFF_0000, 0x00_FF00, 0x00_00FF])
        case (1, 8), (2, 4):
            coding = .runs
            guard !isTopDown else { throw .cannotDecode(detail: "a BMP coded in runs from the top") }
        case (3, 16), (3, 32), (6, 16), (6, 32):
            coding = .components
            let hasAlpha = compression == 6 || length >= 56
            for index in 0..<(hasAlpha ? 4 : 3) { masks.append(try bytes.littleEndian32(at: 54 + 4 * index)) }
        default: throw .cannotDecode(detail: "unknown BMP compression \(compression) of \(depth) bits")
        }
        var components: [Component] = []
        for mask in masks { components.append(try Component(mask: mask)) }
        self.components = components
        let hasPalette = coding != .components
        let maximum = hasPalette ? 1 << depth : 0
        let start = 14 + length + (length == 40 && !hasPalette && compression >= 3 ? 4 * masks.count : 0)
        palette = (start, colors == 0 ? maximum : min(colors, maximum), isOld ? 3 : 4)
        guard pixels >= start, pixels < bytes.byteCount else {
            throw .cannotDecode(detail: "the pixels of the BMP lie outside of the file")
        }
    }
}
