import Imaging
package import Memory
package import Recipes

/// Images made in code, by name.
///
/// Complete images show ``SampleImage/quarters(_:)`` upright at 64×48 unless the name says otherwise.
package enum ImageFixture: String, CaseIterable, Sendable {
    case jpeg, jpegGrayRamp, jpegProgressive, jpegAdobeCMYK, jpegSwappedPrimaries, jpegStandardProfile
    case jpegOrientation2, jpegOrientation3, jpegOrientation4, jpegOrientation5, jpegOrientation6, jpegOrientation7
    case jpegOrientation8
    case png, pngGrayRamp, pngGrayAlpha, pngOneBit, pngHalfTransparent, pngPalette, pngPaletteTransparent, pngSixteenBit
    case pngSixteenBitGray, pngInterlaced, pngOrientation6
    case webp, webpHalfTransparent, webpAnimated
    case gif, gifAnimated
    case avif
    case empty, text, jpegTruncated, pngTruncated, webpTruncated, gifTruncated, jpegHeadOnly, jpegManyScans
    case jpegGiant, pngGiant, webpGiant

    /// The size of ``quarters``.
    package static let size = PixelSize(width: 64, height: 48)

    /// Number of frames of the animated images: red, green and blue for 100, 200 and 300 ms, played five times.
    package static let frames = 3

    package var bytes: SharedBytes { SharedBytes(array) }

    /// Complete images that show the quarters upright in color.
    package static let quarters: [ImageFixture] = [
        .jpeg, .jpegProgressive, .jpegAdobeCMYK, .jpegStandardProfile, .jpegOrientation2, .jpegOrientation3,
        .jpegOrientation4, .jpegOrientation5, .jpegOrientation6, .jpegOrientation7, .jpegOrientation8, .png,
        .pngPalette,
        .pngSixteenBit, .pngInterlaced, .pngOrientation6, .webp, .gif,
    ]

    /// Complete images of the usual size in formats that are read by default.
    package static let readable: [ImageFixture] =
        quarters + [
            .jpegGrayRamp, .jpegSwappedPrimaries, .pngGrayRamp, .pngGrayAlpha, .pngOneBit, .pngHalfTransparent,
            .pngPaletteTransparent, .pngSixteenBitGray, .webpHalfTransparent, .webpAnimated, .gifAnimated,
        ]

    /// An encoded image; JPEG is sequential.
    package static func file(_ image: SampleImage, as format: ImageFormat, quality: Int? = nil) -> [UInt8] {
        do {
            try ImageLibrary.start()
            return try ImageEncoder.encode(
                pixels: image.pixels, size: image.size, bands: image.bands, format: format,
                quality: format.hasQuality ? quality : nil,
                effort: format == .jpeg ? JPEGScanChoice.one.rawValue : nil, hasSharpChroma: format != .jpeg
            ).bytes.array
        } catch {
            fatalError("\(format) cannot be written: \(error)")
        }
    }

    /// An AVIF file of quality 90.
    package static func avifFile(_ image: SampleImage, bits: Int) -> [UInt8] {
        do {
            try ImageLibrary.start()
            let pixels = DecodedImage(image)
            let settings = EncoderSettings(quality: 90, effort: 1, bitDepth: bits)
            return try ImageEncoder.encode(pixels, as: .avif, settings: settings).array
        } catch {
            fatalError("no AVIF of \(bits) bits: \(error)")
        }
    }

    /// A file of any size that compresses like a photograph.
    package static func photo(width: Int, height: Int, format: ImageFormat = .jpeg) -> SharedBytes {
        SharedBytes(file(.photo(PixelSize(width: width, height: height)), as: format))
    }
}
