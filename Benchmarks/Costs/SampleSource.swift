import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// Large sources of every kind that has its own cost.
enum SampleSource: String, CaseIterable {
    case jpeg, jpegFullChroma, jpegGray, jpegCMYK
    case jpegProgressive, jpegProgressiveFullChroma, jpegProgressiveGray, jpegProgressiveCMYK
    case png, pngAlpha, pngSixteenBit, pngInterlaced, pngInterlacedSixteenBit, pngPalette, pngOneBit
    case webp, webpAlpha, webpLossless, webpAnimated
    case gif, gifAnimated
    case avif, avifFullChroma, avifAlpha
    case jxl, jxlAlpha, jxlBest
    case tiff, tiffAlpha, tiffSixteenBit, tiffCMYK, tiffPalette, tiffPacked, tiffTiled
    case bmp, bmpAlpha, bmpPalette, bmpRuns
    case svgShapes, svgPath, svgText, svgGradients, svgFilters, svgImage
    // Random pixels, the worst of a kind.
    case jpegNoise, jpegProgressiveNoise, pngNoise, pngAlphaNoise, pngPaletteNoise, webpNoise, webpAlphaNoise, gifNoise
    case avifNoise, avifFullChromaNoise, avifAlphaNoise, jxlNoise, jxlAlphaNoise, jxlBestNoise

    static let size = PixelSize(width: 3_000, height: 2_000)
    /// Of animations, which are decoded with all their frames.
    static let frameSize = PixelSize(width: 1_000, height: 750)
    static let frames = 16

    var file: [UInt8] {
        switch self {
        case .jpeg: jpeg(components: 3, isSubsampled: true)
        case .jpegFullChroma: jpeg(components: 3)
        case .jpegGray: jpeg(components: 1)
        case .jpegCMYK: jpeg(components: 4)
        case .jpegProgressive: jpeg(components: 3, isSubsampled: true, isProgressive: true)
        case .jpegProgressiveFullChroma: jpeg(components: 3, isProgressive: true)
        case .jpegProgressiveGray: jpeg(components: 1, isProgressive: true)
        case .jpegProgressiveCMYK: jpeg(components: 4, isProgressive: true)
        case .png: ImageFixture.file(photo, as: .png)
        case .pngAlpha: ImageFixture.file(SampleImage.photoWithAlpha(Self.size), as: .png)
        case .pngSixteenBit: png(.rgb, depth: 16)
        case .pngInterlaced: png(.rgb, isInterlaced: true)
        case .pngInterlacedSixteenBit: png(.rgba, depth: 16, isInterlaced: true)
        case .pngPalette: png(.palette, depth: 8)
        case .pngOneBit: png(.gray, depth: 1)
        case .webp: ImageFixture.file(photo, as: .webp)
        case .webpAlpha: ImageFixture.file(SampleImage.photoWithAlpha(Self.size), as: .webp)
        case .webpLossless: losslessWebP
        case .webpAnimated: animation(as: .webp)
        case .gif: ImageFixture.file(photo, as: .gif)
        case .gifAnimated: animation(as: .gif)
        case .avif: ImageFixture.file(photo, as: .avif)
        case .avifFullChroma: ImageFixture.file(photo, as: .avif, quality: 95)
        case .avifAlpha: ImageFixture.file(SampleImage.photoWithAlpha(Self.size), as: .avif, quality: 95)
        case .jxl: ImageFixture.file(photo, as: .jxl)
        case .jxlAlpha: ImageFixture.file(SampleImage.photoWithAlpha(Self.size), as: .jxl)
        case .jxlBest: ImageFixture.file(photo, as: .jxl, quality: 100)
        case .tiff, .tiffAlpha, .tiffSixteenBit, .tiffCMYK, .tiffPalette, .tiffPacked, .tiffTiled: document
        case .bmp: BMPWriter(.twentyFour).file(Self.size) { ($0 ^ $1) & 3 }
        case .bmpAlpha: bitmapWithAlpha
        case .bmpPalette: BMPWriter(.four).file(Self.size) { ($0 ^ $1) & 3 }
        case .bmpRuns: BMPWriter(.runs8).file(Self.size) { ($0 ^ $1) & 3 }
        case .svgShapes, .svgPath, .svgText, .svgGradients, .svgFilters, .svgImage: drawing
        case .jpegNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .jpeg, quality: 95)
        case .jpegProgressiveNoise: progressive(.noise(Self.size, bands: 3))
        case .pngNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .png)
        case .pngAlphaNoise: ImageFixture.file(.noise(Self.size, bands: 4), as: .png)
        case .pngPaletteNoise: ImageFixture.file(.speckles(Self.size, bands: 4, colors: 256), as: .png)
        case .webpNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .webp, quality: 95)
        case .webpAlphaNoise: ImageFixture.file(.noise(Self.size, bands: 4), as: .webp, quality: 95)
        case .gifNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .gif)
        case .avifNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .avif)
        case .avifFullChromaNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .avif, quality: 95)
        case .avifAlphaNoise: ImageFixture.file(.noise(Self.size, bands: 4), as: .avif, quality: 95)
        case .jxlNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .jxl)
        case .jxlAlphaNoise: ImageFixture.file(.noise(Self.size, bands: 4), as: .jxl)
        case .jxlBestNoise: ImageFixture.file(.noise(Self.size, bands: 3), as: .jxl, quality: 100)
        }
    }

    private var photo: SampleImage { .photo(Self.size) }

    private func jpeg(components: Int, isSubsampled: Bool = false, isProgressive: Bool = false) -> [UInt8] {
        var writer = JPEGWriter(width: Self.size.width, height: Self.size.height, components: components)
        writer.isProgressive = isProgressive
        if isSubsampled { writer.sampling = [(2, 2), (1, 1), (1, 1)] }
        if components == 4 { writer.adobeTransform = 0 }
        return writer.file { column, row in
            (0..<components).map { UInt8(truncatingIfNeeded: (column ^ row) &+ 50 &* $0) }
        }
    }

    private func progressive(_ image: SampleImage) -> [UInt8] {
        do {
            return try ImageEncoder.encode(
                pixels: image.pixels, size: image.size, bands: image.bands, format: .jpeg, quality: 95,
                effort: JPEGScanChoice.several.rawValue
            ).bytes.array
        } catch {
            fatalError("no progressive JPEG: \(error)")
        }
    }

    /// One color: five codes of one symbol each, and no bit for any pixel (RFC 9649 section 3.7).
    private var losslessWebP: [UInt8] {
        let sides = (Self.size.width - 1) | (Self.size.height - 1) << 14
        let codes = (0..<5).reduce(0) { $0 | 1 << (3 + 4 * $1) }
        let data = [0x2F] + sides.littleEndian32 + codes.littleEndian32 + [UInt8](repeating: 0, count: 9)
        let body = Array("WEBPVP8L".utf8) + data.count.littleEndian32 + data
        return Array("RIFF".utf8) + body.count.littleEndian32 + body
    }

    private func png(_ type: PNGWriter.ColorType, depth: Int = 8, isInterlaced: Bool = false) -> [UInt8] {
        var writer = PNGWriter(width: Self.size.width, height: Self.size.height, colorType: type)
        writer.bitDepth = depth
        writer.isInterlaced = isInterlaced
        if type == .palette { writer.palette = (0..<768).map { UInt8($0 / 3) } }
        let bands = type == .rgba ? 4 : type == .rgb ? 3 : 1
        let most = 1 << depth
        return writer.file { x, y in [x, y, x ^ y, x &+ y].prefix(bands).map { $0 % most } }
    }

    private func animation(as format: ImageFormat) -> [UInt8] {
        let frame = SampleImage.photo(Self.frameSize).pixels
        let pixels = (0..<Self.frames).flatMap { number in frame.map { $0 &+ UInt8(number * 8) } }
        let image = DecodedImage(
            pixels: SharedBytes(pixels), size: Self.frameSize, bands: 3, frames: Self.frames,
            delays: [Int](repeating: 100, count: Self.frames), loop: 0)
        let plan = RenderPlan(
            decode: DecodePlan(isAnimated: true), resizedSize: Self.frameSize, format: format,
            quality: format.encoderQuality(pixels: Self.frameSize.area))
        do {
            return try ImageRenderer.render(image, plan: plan, token: WorkToken()).bytes.array
        } catch {
            fatalError("no animated \(format): \(error)")
        }
    }
}
