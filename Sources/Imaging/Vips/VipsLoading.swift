import CVips
import CVipsShim

/// How a file is opened.
struct VipsLoadOptions {
    /// Divisor of the sides that JPEG and WebP apply while decoding: 1, 2, 4, 8.
    var level = 1
    /// First frame.
    var page = 0
    /// Number of frames, stacked in one tall image.
    var pages = 1
}

extension VipsImage {
    /// Opens a file of a known format with that format's loader; `bytes` must outlive the image.
    ///
    /// Pixels are read later, once, from top to bottom.
    @unsafe
    static func file(
        _ bytes: UnsafeRawBufferPointer, format: ImageFormat, options: VipsLoadOptions
    ) throws(VipsError) -> VipsImage {
        let load =
            switch format {
            case .jpeg: unsafe CVipsShim_load_jpeg
            case .png: unsafe CVipsShim_load_png
            case .webp: unsafe CVipsShim_load_webp
            case .gif: unsafe CVipsShim_load_gif
            case .avif, .heic: preconditionFailure("libheif is called directly")
            }
        let shimOptions = CVipsShimLoadOptions(
            shrink: Int32(options.level), scale: 1 / Double(options.level), page: Int32(options.page),
            pages: Int32(options.pages))
        return try unsafe make { unsafe load(bytes.baseAddress, bytes.count, shimOptions, $0) }
    }

    /// The class names of the loaders that the shim leaves on.
    static let neededLoaders = ImageFormat.allCases.compactMap { format -> String? in
        if case .vips(let name) = format.reading.loader { name } else { nil }
    }.sorted()

    /// The class names of the loaders that are on, in alphabetical order.
    static var loaders: [String] {
        var names: [UnsafePointer<CChar>?] = unsafe Array(repeating: nil, count: 64)
        let count = unsafe CVipsShim_loaders(&names, Int32(names.count))
        return unsafe names.prefix(Int(count)).compactMap { unsafe $0.map { unsafe String(cString: $0) } }.sorted()
    }

    /// Opens a file in any format that libvips recognises.
    @unsafe
    static func anyFile(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try unsafe make { unsafe CVipsShim_load_any(bytes.baseAddress, bytes.count, $0) }
    }

    /// An array of integers in the metadata; empty if there is none.
    func integers(_ name: String) -> [Int] {
        unsafe withRaw { raw in
            var count: Int32 = 0
            guard let values = unsafe CVipsShim_integers(raw, name, &count) else { return [] }
            return unsafe UnsafeBufferPointer(start: values, count: Int(count)).map(Int.init)
        }
    }

    /// An integer in the metadata.
    func integer(_ name: String) -> Int? {
        unsafe withRaw { raw in
            var value: Int32 = 0
            guard unsafe vips_image_get_typeof(raw, name) != 0, unsafe vips_image_get_int(raw, name, &value) == 0 else {
                return nil
            }
            return Int(value)
        }
    }
}
