import Recipes

extension ImageFixture {
    /// The color of the quarters at a pixel.
    private static func color(_ x: Int, _ y: Int) -> [UInt8] {
        let index = (y * size.width + x) * 3
        return Array(image.pixels[index..<index + 3])
    }

    /// PNG files of kinds that our encoder does not write.
    var unusualPNG: [UInt8] {
        var writer = PNGWriter(width: Self.size.width, height: Self.size.height, colorType: .rgb)
        switch self {
        case .pngGrayAlpha:
            writer.colorType = .grayAlpha
            return writer.file { x, _ in x < 32 ? [200, 255] : [0, 0] }
        case .pngOneBit:
            writer.colorType = .gray
            writer.bitDepth = 1
            return writer.file { x, _ in [x < 32 ? 0 : 1] }
        case .pngPalette, .pngPaletteTransparent:
            writer.colorType = .palette
            writer.bitDepth = 2
            writer.palette = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
            if self == .pngPaletteTransparent { writer.transparency = [0] }
            return writer.file { x, y in [(x < 32 ? 0 : 1) + (y < 24 ? 0 : 2)] }
        case .pngSixteenBit:
            writer.bitDepth = 16
            return writer.file { x, y in Self.color(x, y).map { Int($0) * 257 } }
        case .pngSixteenBitGray:
            writer.colorType = .gray
            writer.bitDepth = 16
            return writer.file { x, _ in [x * 1_040] }
        case .pngOrientation6:
            writer.width = Self.size.height
            writer.height = Self.size.width
            writer.orientation = 6
            let stored = PixelSize(width: writer.width, height: writer.height)
            return writer.file { x, y in
                let place = Self.upright(x, y, in: stored, orientation: 6)
                return Self.color(place.x, place.y).map(Int.init)
            }
        default:
            writer.isInterlaced = self == .pngInterlaced
            return writer.file { x, y in Self.color(x, y).map(Int.init) }
        }
    }

    static func blocks(isProgressive: Bool, scans: Int = 4) -> JPEGWriter {
        var writer = JPEGWriter(width: size.width, height: size.height, components: 3)
        writer.isProgressive = isProgressive
        writer.scans = scans
        return writer
    }

    /// A block of the quarters as luma and chroma.
    static func luma(_ column: Int, _ row: Int) -> [UInt8] {
        switch (column < 4, row < 3) {
        case (true, true): [76, 85, 255]
        case (false, true): [150, 44, 21]
        case (true, false): [29, 255, 107]
        case (false, false): [255, 128, 128]
        }
    }

    /// The quarters in CMYK, inverted as in files by Adobe: 255 is no ink.
    static var adobeCMYK: [UInt8] {
        var writer = JPEGWriter(width: size.width, height: size.height, components: 4)
        writer.adobeTransform = 0
        return writer.file { column, row in
            switch (column < 4, row < 3) {
            case (true, true): [255, 0, 0, 255]
            case (false, true): [0, 255, 0, 255]
            case (true, false): [0, 0, 255, 255]
            case (false, false): [255, 255, 255, 255]
            }
        }
    }

    /// A small JPEG whose header declares 64250×64250 pixels.
    static var giantJPEG: [UInt8] {
        var file = ImageFixture.jpeg.array
        guard let frame = file.indices.dropLast(9).first(where: { file[$0] == 0xFF && file[$0 + 1] == 0xC0 }) else {
            fatalError("a JPEG without a frame")
        }
        file.replaceSubrange(frame + 5..<frame + 9, with: 64_250.bigEndian16 + 64_250.bigEndian16)
        return file
    }

    /// A PNG of 30000×30000 black and white pixels, with almost no data.
    static var giantPNG: [UInt8] {
        var writer = PNGWriter(width: 30_000, height: 30_000, colorType: .gray)
        writer.bitDepth = 1
        return writer.file(deflated: Zlib.stored([UInt8](repeating: 0, count: 3_751)))
    }

    /// 84 bytes that declare a canvas of 16383×16383.
    static var giantWebP: [UInt8] {
        let canvas = [16_382.littleEndian32.prefix(3), 16_382.littleEndian32.prefix(3)].flatMap { $0 }
        let extended = Array("VP8X".utf8) + 10.littleEndian32 + [0x10, 0, 0, 0] + canvas
        let packed = 16_382 | 16_382 << 14 | 1 << 28
        let data = [0x2F] + packed.littleEndian32 + [UInt8](repeating: 0, count: 41)
        let image = Array("VP8L".utf8) + data.count.littleEndian32 + data
        let body = Array("WEBP".utf8) + extended + image
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }
}
