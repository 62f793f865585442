import CVips
import CVipsShim
import Recipes

struct VipsLoadOptions {
    var level = 1
    var page = 0
    /// The number of pages, stacked in one tall image.
    var pages = 1
}

@safe
struct VipsLoader: Sendable {
    let className: String
    let open: @Sendable (UnsafeRawPointer?, Int, CVipsShimLoadOptions, UnsafeMutablePointer<VipsImage.Raw?>?) -> Int32
}

extension VipsImage {
    /// Loads an image lazily; `bytes` must outlive it.
    ///
    /// Pixels are read later, once, from top to bottom.
    @unsafe
    static func loading(
        _ bytes: UnsafeRawBufferPointer, format: ImageFormat, options: VipsLoadOptions
    ) throws(VipsError) -> VipsImage {
        guard case .vips(let loader) = format.decoding.loader else { preconditionFailure("libvips has no loader") }
        let shimOptions = CVipsShimLoadOptions(
            shrink: Int32(options.level), scale: 1 / Double(options.level), page: Int32(options.page),
            pages: Int32(options.pages))
        return try unsafe make { unsafe loader.open(bytes.baseAddress, bytes.count, shimOptions, $0) }
    }

    @unsafe
    static func loadingAnyFormat(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try unsafe make { unsafe CVipsShim_load_any(bytes.baseAddress, bytes.count, $0) }
    }

    func integers(_ name: String) -> [Int] {
        unsafe withRaw { raw in
            var count: Int32 = 0
            guard let values = unsafe CVipsShim_integers(raw, name, &count) else { return [] }
            return unsafe UnsafeBufferPointer(start: values, count: Int(count)).map(Int.init)
        }
    }

    func integer(_ name: String) -> Int? {
        unsafe withRaw { raw in
            var value: Int32 = 0
            guard unsafe CVipsShim_get_int(raw, name, &value) != 0 else { return nil }
            return Int(value)
        }
    }
}
