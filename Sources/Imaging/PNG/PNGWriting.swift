import CPNGShim
import CPalettes
import Coordination
import Glibc
import Memory

/// Writes PNG files: an image of at most 256 colours with a palette or with few bits of grey, others with all channels.
///
/// A reader sees the same kind of pixels in both: grey or colour, with alpha or without. Both keep every pixel exactly.
/// Only a quality below 100 makes an image of more colours one of 256 or fewer.
@safe
private struct PNGWriting {
    let pixels: SharedBytes
    let width: Int
    let height: Int
    let bands: Int
    let options: VipsSaveOptions

    /// zlib's level for indices, which are a quarter of the pixels' bytes or less.
    private static let indexLevel: Int32 = 7

    init(_ image: VipsImage, _ options: VipsSaveOptions) throws(VipsError) {
        do {
            pixels = try image.pixels(token: options.token)
        } catch {
            throw error as? VipsError ?? VipsError(text: "\(error)")
        }
        (width, height, bands) = (image.width, image.height, image.bands)
        self.options = options
    }

    func file() throws(VipsError) -> SharedBytes {
        guard 1...4 ~= bands else { throw VipsError(text: "PNG with \(bands) bands") }
        // A palette cannot say that its colours are grey.
        if bands != 2, let indexed = try unsafe indexed({ unsafe CPalettes_read($0, $1, $2) }) {
            let (file, depth) = try written(indexed)
            // With a byte for each pixel, filters may save more than a palette, as for smooth transitions.
            guard depth == 8 else { return file }
            let other = try withoutPalette()
            return other.count < file.count ? other : file
        }
        if options.quality < 100 {
            let error = Self.error(quality: options.quality)
            if let indexed = try unsafe indexed({ unsafe CPalettes_choose($0, error, $1, $2) }) {
                return try written(indexed).file
            }
        }
        return try withoutPalette()
    }

    /// The mean difference, in levels, that the colours of a quality may have from the pixels.
    private static func error(quality: Int) -> Double { Double(100 - quality) / 5 }

    private func withPixels<Result>(_ body: (UnsafePointer<CPalettesPixels>) -> Result) -> Result {
        unsafe pixels.withUnsafeBytes { bytes in
            var pixels = unsafe CPalettesPixels(
                samples: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: Int32(width),
                height: Int32(height), bands: Int32(bands))
            return unsafe body(&pixels)
        }
    }

    /// The palette image that a function of CPalettes makes; nil if the pixels have too many colours.
    private func indexed(
        _ read: (
            UnsafePointer<CPalettesPixels>, UnsafeMutablePointer<CPalettesIndexed>, CPalettesWatch
        ) -> CPalettesStatus
    ) throws(VipsError) -> IndexedPixels? {
        var indexed = unsafe CPalettesIndexed()
        let watch = unsafe CPalettesWatch(
            should_stop: shouldStop, context: Unmanaged.passUnretained(options.token).toOpaque())
        switch unsafe withPixels({ unsafe read($0, &indexed, watch) }) {
        case CPalettesDone: return unsafe IndexedPixels(owning: indexed)
        case CPalettesManyColors: return nil
        default: throw VipsError(text: "the work was stopped, or there is no memory for a palette")
        }
    }

    /// The file of indices, and the bits of a pixel.
    private func written(_ indexed: IndexedPixels) throws(VipsError) -> (file: SharedBytes, depth: Int) {
        let watch = unsafe CPNGShimWatch(
            should_stop: shouldStop, context: Unmanaged.passUnretained(options.token).toOpaque())
        var base: UnsafeMutableRawPointer?
        var (count, depth) = (0, Int32(0))
        let status = unsafe indexed.withIndexed { indexed, colors in
            var image = unsafe CPNGShimIndexed(
                indices: indexed.indices, width: Int32(width), height: Int32(height), colors: colors,
                color_count: indexed.count, is_grey: bands == 1 ? 1 : 0, has_alpha: bands % 2 == 0 ? 1 : 0)
            return unsafe CPNGShim_write_indexed(&image, Self.indexLevel, watch, &base, &count, &depth)
        }
        guard status == 0 else {
            throw VipsError(text: "the work was stopped, or there is no memory for a PNG file")
        }
        return (unsafe SharedBytes(heap: base, count: count), Int(depth))
    }

    /// The file with all channels, 8 bits each.
    private func withoutPalette() throws(VipsError) -> SharedBytes {
        try unsafe pixels.withUnsafeBytes { bytes throws(VipsError) in
            let image = try unsafe VipsImage.pixels(bytes, width: width, height: height, bands: bands)
            image.watch(options.token)
            return try image.savedWithoutPalette(options)
        }
    }
}

extension VipsSaver {
    /// Files with a palette if the image has few colours, or a quality below 100 wants few.
    static let png = VipsSaver { (image, options) throws(VipsError) in
        try PNGWriting(image, options).file()
    }
}

/// Owns an image as indices.
@safe
private final class IndexedPixels {
    private let indexed: CPalettesIndexed

    /// Takes over the indices.
    init(owning indexed: CPalettesIndexed) {
        unsafe self.indexed = unsafe indexed
    }

    deinit {
        unsafe free(indexed.indices)
    }

    /// Lends the indices and the colours.
    func withIndexed<Result>(
        _ body: (CPalettesIndexed, UnsafePointer<(UInt8, UInt8, UInt8, UInt8)>?) -> Result
    ) -> Result {
        unsafe withUnsafeBytes(of: indexed.colors) { colors in
            unsafe body(indexed, colors.assumingMemoryBound(to: (UInt8, UInt8, UInt8, UInt8).self).baseAddress)
        }
    }
}
