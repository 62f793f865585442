import CVips
import CVipsShim
import Coordination
import Memory
import Recipes

struct VipsSaveOptions {
    var settings: EncoderSettings
    var hasSharpChroma = true
    var token: WorkToken

    var quality: Int { settings.quality }
    var effort: Int { settings.effort }
}

struct VipsSaver: Sendable {
    fileprivate let save: @Sendable (VipsImage, VipsSaveOptions) throws -> SharedBytes

    init(_ save: @escaping @Sendable (VipsImage, VipsSaveOptions) throws -> SharedBytes) { self.save = save }
}

extension VipsImage {
    func saved(as format: ImageFormat, options: VipsSaveOptions) throws(VipsError) -> SharedBytes {
        guard let saver = format.encoding?.saver else { throw VipsError(text: "\(format.rawValue) is not written") }
        do {
            return try saver.save(self, options)
        } catch ImagingError.encodeFailed(let detail) {
            throw VipsError(text: detail)
        } catch {
            throw error as? VipsError ?? VipsError(text: "\(error)")
        }
    }

    /// - Parameter distance: The Butteraugli distance of JPEG XL.
    func saved(
        _ options: VipsSaveOptions, distance: Double = 0,
        by save: (
            Raw?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<Int>?, CVipsShimSaveOptions
        ) -> Int32
    ) throws(VipsError) -> SharedBytes {
        let shimOptions = CVipsShimSaveOptions(
            quality: Int32(options.quality), effort: Int32(options.effort), distance: distance,
            has_sharp_chroma: options.hasSharpChroma ? 1 : 0, keeps_profile: options.settings.isDisplayP3 ? 1 : 0,
            is_lossless: options.settings.isLossless ? 1 : 0)
        var base: UnsafeMutableRawPointer?
        var count = 0
        let status = unsafe withRaw { unsafe save($0, &base, &count, shimOptions) }
        guard status == 0 else {
            unsafe g_free(base)
            throw VipsError.last()
        }
        // GLib allocates by malloc.
        return unsafe SharedBytes(heap: base, count: count)
    }

    func markAnimated(frameHeight: Int, delays: [Int], loop: Int) {
        let delays = delays.map(Int32.init(clamping:))
        unsafe withRaw {
            unsafe CVipsShim_set_animation($0, Int32(frameHeight), delays, Int32(delays.count), Int32(clamping: loop))
        }
    }
}
