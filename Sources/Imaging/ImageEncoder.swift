package import Memory

/// Writes images as files, on the calling worker thread or worker process.
package enum ImageEncoder {
    /// Writes 8-bit pixels, rows without gaps and bands interleaved: grey, grey with alpha, sRGB or sRGB with alpha.
    ///
    /// - Parameter quality: 1…100, nil for the format's default.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func encode(
        pixels: [UInt8], size: PixelSize, bands: Int, format: ImageFormat, quality: Int?
    ) throws(ImagingError) -> EncodedImage {
        try encode(
            SharedBytes(pixels), size: size, bands: bands, format: format, quality: quality ?? format.defaultQuality)
    }

    /// Writes a finished still as a file; cannot be stopped.
    ///
    /// - Parameters:
    ///   - image: Interleaved pixels, or planes of the range that the format is written from.
    ///   - quality: 1…100; ignored if the format has no quality.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func encode(
        _ image: DecodedImage, as format: ImageFormat, quality: Int
    ) throws(ImagingError) -> SharedBytes {
        switch image.layout {
        case .interleaved(let bands):
            return try encode(image.pixels, size: image.size, bands: bands, format: format, quality: quality).bytes
        case .planar(let planes, let range):
            guard format.isEncodedInOneStep, let encoder = format.writing?.planes else {
                throw .encodeFailed(detail: "\(format.rawValue) is not written from planes here")
            }
            return try encoder.file(
                of: image.pixels, planes: planes, range: range, quality: quality, effort: format.effort)
        }
    }

    private static func encode(
        _ pixels: SharedBytes, size: PixelSize, bands: Int, format: ImageFormat, quality: Int
    ) throws(ImagingError) -> EncodedImage {
        guard 1...4 ~= bands, size.width > 0, size.height > 0, pixels.count == size.area * bands else {
            throw .encodeFailed(detail: "\(pixels.count) bytes are not \(size) pixels of \(bands) bands")
        }
        do throws(VipsError) {
            return try unsafe pixels.withUnsafeBytes { bytes throws(VipsError) in
                var image = try unsafe VipsImage.pixels(bytes, width: size.width, height: size.height, bands: bands)
                if !format.supportsAlpha { image = try image.flattened(on: .white) }
                return try encode(image, size: size, format: format, quality: quality)
            }
        } catch {
            throw .encodeFailed(detail: error.text)
        }
    }

    /// Computes `image` and writes it; `size` is that of one frame.
    static func encode(
        _ image: VipsImage, size: PixelSize, format: ImageFormat, quality: Int
    ) throws(VipsError) -> EncodedImage {
        let options = VipsSaveOptions(quality: quality, effort: format.effort)
        return EncodedImage(bytes: try image.saved(as: format, options: options), format: format, size: size)
    }
}
