import CPlanarShim
import Coordination
import Memory

extension VipsSaver {
    /// The writer of planes, which also writes pixels, so that both lanes make files of the same kind.
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
                quality: Int32(options.quality), scans: .init(effort: Int32(options.effort)),
                has_full_chroma: ImageFormat.jpeg.chromaStep(at: options.quality) == 1 ? 1 : 0)
            return unsafe CPlanarShim_write_jpeg_pixels(
                &source, settings, CPlanarShimWatch(options.token), &output, &count, &text)
        }
        guard status == CPlanarShimDone else {
            throw VipsError(text: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
        }
        return unsafe SharedBytes(heap: output, count: count)
    }
}
