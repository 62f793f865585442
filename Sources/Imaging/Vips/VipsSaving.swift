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

/// libvips' saver of a format.
@safe
struct VipsSaver: Sendable {
    fileprivate let save:
        @Sendable (
            VipsImage.Raw?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<Int>?,
            CVipsShimSaveOptions
        ) -> Int32
    /// Changes the file that was saved.
    fileprivate var finish: @Sendable (SharedBytes) -> SharedBytes = { $0 }

    static let jpeg = unsafe VipsSaver(save: CVipsShim_save_jpeg)
    static let png = unsafe VipsSaver(save: CVipsShim_save_png)
    static let webp = unsafe VipsSaver(save: CVipsShim_save_webp, finish: { WebPMetadata.removed(from: $0) })
    static let gif = unsafe VipsSaver(save: CVipsShim_save_gif)
    static let avif = unsafe VipsSaver(save: CVipsShim_save_avif)
}

extension VipsImage {
    /// Computes the image and writes it as a file without metadata.
    func saved(as format: ImageFormat, options: VipsSaveOptions) throws(VipsError) -> SharedBytes {
        guard let saver = format.writing?.saver else { throw VipsError(text: "\(format.rawValue) is not written") }
        let shimOptions = CVipsShimSaveOptions(quality: Int32(options.quality), effort: Int32(options.effort))
        var base: UnsafeMutableRawPointer?
        var count = 0
        let status = unsafe withRaw { unsafe saver.save($0, &base, &count, shimOptions) }
        guard status == 0 else {
            unsafe g_free(base)
            throw VipsError.last()
        }
        let file = unsafe SharedBytes(adopting: base, count: count, release: { base, _ in unsafe g_free(base) })
        return saver.finish(file)
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
