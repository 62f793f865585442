import CVips
import CVipsShim
import Memory

/// Settings of an encoder.
struct VipsSaveOptions {
    /// 1…100; ignored if the format has no quality.
    var quality: Int
    /// The format's effort or compression level.
    var effort: Int
}

extension VipsImage {
    /// Computes the image and writes it as a file without metadata.
    func saved(as format: ImageFormat, options: VipsSaveOptions) throws(VipsError) -> SharedBytes {
        let save =
            switch format {
            case .jpeg: unsafe CVipsShim_save_jpeg
            case .png: unsafe CVipsShim_save_png
            case .webp: unsafe CVipsShim_save_webp
            case .gif: unsafe CVipsShim_save_gif
            case .avif: unsafe CVipsShim_save_avif
            case .heic: throw VipsError(text: "HEIC is not written")
            }
        let shimOptions = CVipsShimSaveOptions(quality: Int32(options.quality), effort: Int32(options.effort))
        var base: UnsafeMutableRawPointer?
        var count = 0
        let status = unsafe withRaw { unsafe save($0, &base, &count, shimOptions) }
        guard status == 0 else {
            unsafe g_free(base)
            throw VipsError.last()
        }
        let file = unsafe SharedBytes(adopting: base, count: count, release: { base, _ in unsafe g_free(base) })
        return format == .webp ? WebPMetadata.removed(from: file) : file
    }

    /// Marks this image as stacked frames; no other code may use the image.
    func markAnimated(frameHeight: Int, delays: [Int], loop: Int) {
        let delays = delays.map(Int32.init(clamping:))
        unsafe withRaw {
            unsafe CVipsShim_set_animation(
                $0, Int32(frameHeight), delays, Int32(delays.count), Int32(clamping: loop))
        }
    }
}
