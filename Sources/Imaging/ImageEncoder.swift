import Coordination
package import Memory

/// Encodes images, on the calling worker thread or worker process.
package enum ImageEncoder {
    /// Encodes packed rows of interleaved 8-bit pixels: gray, gray with alpha, sRGB or sRGB with alpha.
    ///
    /// - Parameters:
    ///   - quality: 1…100, nil for the format's default.
    ///   - effort: The encoder's effort, on its own scale; nil for the format's default.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func encode(
        pixels: [UInt8], size: PixelSize, bands: Int, format: ImageFormat, quality: Int?, effort: Int? = nil
    ) throws(ImagingError) -> EncodedImage {
        guard 1...4 ~= bands, size.width > 0, size.height > 0, pixels.count == size.area * bands else {
            throw .encodeFailed(detail: "\(pixels.count) bytes are not \(size) pixels of \(bands) bands")
        }
        return try encode(
            DecodedImage(pixels: SharedBytes(pixels), size: size, bands: bands), bands: bands, format: format,
            settings: EncoderSettings(
                quality: quality ?? format.encoderQuality(pixels: size.area), effort: effort ?? format.effort,
                bitDepth: format.bitDepth))
    }

    /// Encodes a finished image; cannot be interrupted.
    ///
    /// - Parameter image: Interleaved pixels, or planes of the format's range.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings
    ) throws(ImagingError) -> SharedBytes {
        switch image.layout {
        case .interleaved(let bands):
            return try encode(image, bands: bands, format: format, settings: settings).bytes
        case .planar(let planes, let range):
            guard format.isEncodedInOneStep, let encoder = format.writing?.planes else {
                throw .encodeFailed(detail: "\(format.rawValue) is not written from planes here")
            }
            return try encoder.file(
                of: image.pixels, planes: planes, range: range, settings: settings)
        }
    }

    private static func encode(
        _ image: DecodedImage, bands: Int, format: ImageFormat, settings: EncoderSettings
    ) throws(ImagingError) -> EncodedImage {
        do throws(VipsError) {
            return try unsafe image.pixels.withUnsafeBytes { bytes throws(VipsError) in
                var pixels = try unsafe VipsImage.pixels(
                    bytes, width: image.size.width, height: image.size.height * image.frames, bands: bands)
                if !format.supportsAlpha { pixels = try pixels.flattened(on: .white) }
                if image.frames > 1 {
                    pixels.markAnimated(frameHeight: image.size.height, delays: image.delays, loop: image.loop)
                }
                let options = VipsSaveOptions(settings: settings, token: WorkToken())
                return try encode(pixels, size: image.size, format: format, options: options)
            }
        } catch {
            throw .encodeFailed(detail: error.text)
        }
    }

    static func encode(
        _ image: VipsImage, size: PixelSize, format: ImageFormat, options: VipsSaveOptions
    ) throws(VipsError) -> EncodedImage {
        EncodedImage(bytes: try image.saved(as: format, options: options), format: format, size: size)
    }
}
