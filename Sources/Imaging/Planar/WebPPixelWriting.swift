import CPlanarShim
import Coordination
import Memory

extension VipsSaver {
    /// libwebp for stills, and through libvips for animations.
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
