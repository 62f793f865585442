package import Coordination
package import Memory
package import Recipes

package enum ImageEncoder {
    /// Encodes packed rows of interleaved 8-bit pixels: gray, gray with alpha, sRGB or sRGB with alpha.
    ///
    /// - Parameters:
    ///   - quality: 1…100; nil uses the format's default.
    ///   - effort: The effort on the encoder's scale; nil uses the format's default.
    package static func encode(
        pixels: [UInt8], size: PixelSize, bands: Int, format: ImageFormat, quality: Int?, effort: Int? = nil,
        hasSharpChroma: Bool = true
    ) throws(ImagingError) -> EncodedImage {
        guard 1...4 ~= bands, size.width > 0, size.height > 0, pixels.count == size.area * bands else {
            throw .encodeFailed(detail: "\(pixels.count) bytes are not \(size) pixels of \(bands) bands")
        }
        let file = try encode(
            DecodedImage(pixels: SharedBytes(pixels), size: size, bands: bands), as: format,
            settings: EncoderSettings(
                quality: quality ?? format.encoderQuality(pixels: size.area), effort: effort ?? format.effort,
                bitDepth: format.bitDepth), hasSharpChroma: hasSharpChroma)
        return EncodedImage(bytes: file, format: format, size: size)
    }

    /// - Parameters:
    ///   - image: Interleaved pixels, or planes in the format's range.
    ///   - token: Stops libvips and our own writers, but not encoders that work in one step.
    package static func encode(
        _ image: DecodedImage, as format: ImageFormat, settings: EncoderSettings, hasSharpChroma: Bool = true,
        token: WorkToken = WorkToken()
    ) throws(ImagingError) -> SharedBytes {
        defer { extendLifetime(token) }
        if case .planar(let planes, let range) = image.layout {
            guard format.isEncodedByWorker, let encoder = format.encoding?.planes else {
                throw .encodeFailed(detail: "\(format.rawValue) cannot be encoded from planes")
            }
            return try encoder.encode(image.pixels, planes: planes, range: range, settings: settings)
        }
        do throws(VipsError) {
            return try unsafe image.pixels.withUnsafeBytes { bytes throws(VipsError) in
                var pixels = try unsafe VipsImage.wrapping(
                    bytes, width: image.size.width, height: image.size.height * image.frames, bands: image.bands)
                if !format.supportsAlpha { pixels = try pixels.flattened(on: .white) }
                if image.frames > 1 {
                    pixels.markAnimated(frameHeight: image.size.height, delays: image.delays, loop: image.loop)
                }
                pixels.watch(token)
                return try pixels.saved(
                    as: format,
                    options: VipsSaveOptions(settings: settings, hasSharpChroma: hasSharpChroma, token: token))
            }
        } catch {
            throw .encodeFailed(detail: error.text)
        }
    }
}
