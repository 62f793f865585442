import CVips
import CVipsShim
import Coordination
import Memory

struct VipsSaveOptions {
    /// The encoder's quality, palette, effort and bits.
    var settings: EncoderSettings
    /// Whether to compute WebP's chroma so that color edges stay sharp, which takes longer.
    var hasSharpChroma = true
    var token: WorkToken

    var quality: Int { settings.quality }
    var effort: Int { settings.effort }
}

/// Computes the pixels of a libvips image and encodes them in one format.
struct VipsSaver: Sendable {
    fileprivate let save: @Sendable (VipsImage, VipsSaveOptions) throws(VipsError) -> SharedBytes

    init(_ save: @escaping @Sendable (VipsImage, VipsSaveOptions) throws(VipsError) -> SharedBytes) {
        self.save = save
    }

    static let gif = VipsSaver { (image, options) throws(VipsError) in
        try unsafe image.saved(options, by: CVipsShim_save_gif)
    }
    static let jxl = VipsSaver { (image, options) throws(VipsError) in
        let isWide = options.settings.isWide && image.bands >= 3
        let profiled = isWide ? try image.profiled(SharedBytes(ColorProfile.displayP3File)) : image
        return try unsafe profiled.saved(options, by: CVipsShim_save_jxl)
    }
}

extension VipsImage {
    /// Computes the image and encodes it without metadata.
    func saved(as format: ImageFormat, options: VipsSaveOptions) throws(VipsError) -> SharedBytes {
        guard let saver = format.writing?.saver else { throw VipsError(text: "\(format.rawValue) is not written") }
        return try saver.save(self, options)
    }

    /// Computes the frames and encodes them as WebP without metadata.
    func savedAsWebPAnimation(_ options: VipsSaveOptions) throws(VipsError) -> SharedBytes {
        WebPMetadata.removed(from: try unsafe saved(options, by: CVipsShim_save_webp))
    }

    fileprivate func saved(
        _ options: VipsSaveOptions,
        by save: (
            Raw?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<Int>?, CVipsShimSaveOptions
        ) -> Int32
    ) throws(VipsError) -> SharedBytes {
        let shimOptions = CVipsShimSaveOptions(
            quality: Int32(options.quality), effort: Int32(options.effort),
            has_sharp_chroma: options.hasSharpChroma ? 1 : 0, keeps_profile: options.settings.isWide ? 1 : 0)
        var base: UnsafeMutableRawPointer?
        var count = 0
        let status = unsafe withRaw { unsafe save($0, &base, &count, shimOptions) }
        guard status == 0 else {
            unsafe g_free(base)
            throw VipsError.last()
        }
        // GLib's memory comes from malloc.
        return unsafe SharedBytes(heap: base, count: count)
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
