import CPlanarShim
import Coordination
import Memory

extension VipsSaver {
    /// Uses the planar writer for pixels too, so that both lanes write the same kind of files.
    static let jpeg = VipsSaver { (image, options) throws(VipsError) in
        let pixels: SharedBytes
        do {
            pixels = try image.pixels(token: options.token)
        } catch {
            throw error as? VipsError ?? VipsError(text: "\(error)")
        }
        var output: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))
        let status = unsafe pixels.withUnsafeBytes { bytes in
            var source = unsafe CPlanarShimPixels(
                samples: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: Int32(image.width),
                height: Int32(image.height), bands: Int32(image.bands))
            let settings = CPlanarShimJPEGSettings(
                options.settings,
                chromaStep: options.settings.hasFullChroma ? 1 : ImageFormat.jpeg.chromaStep(at: options.quality))
            return unsafe CPlanarShim_write_jpeg_pixels(
                &source, settings, CPlanarShimWatch(options.token), &output, &count, &text)
        }
        guard status == CPlanarShimDone else {
            throw VipsError(text: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
        }
        return unsafe SharedBytes(heap: output, count: count)
    }

    /// Uses libwebp for stills, and libvips for animations.
    static let webp = VipsSaver { (image, options) throws(VipsError) in
        guard image.integer("page-height").map({ $0 == image.height }) ?? true else {
            return try image.savedAsWebPAnimation(options)
        }
        do {
            return try file(of: image, options)
        } catch {
            throw error as? VipsError ?? VipsError(text: "\(error)")
        }
    }

    private static func file(of image: VipsImage, _ options: VipsSaveOptions) throws -> SharedBytes {
        try unsafe image.pixels(token: options.token).withUnsafeBytes { bytes throws in
            var pixels = unsafe CPlanarShimPixels(
                samples: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: Int32(image.width),
                height: Int32(image.height), bands: Int32(image.bands))
            return try PlaneEncoder.Output.file { output in
                unsafe CPlanarShim_write_webp_pixels(
                    &pixels, options.hasSharpChroma ? 1 : 0, CPlanarShimWebPSettings(options.settings),
                    CPlanarShimWatch(options.token), &output.base, &output.count, &output.text)
            }
        }
    }
}
