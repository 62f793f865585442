import CPNG
import Coordination
import Glibc
import Memory

/// Writes images of up to 256 colors with a palette or few bits of gray, other images with filters.
///
/// Drops alpha if all pixels are opaque, and color if all are gray. Keeps every pixel exactly, unless a quality below
/// 100 reduces an image with more colors to at most 256.
@safe
private struct PNGFileWriter {
    private struct Region: Equatable {
        let frame, left, top, width, height: Int
    }

    let pixels: SharedBytes
    let width: Int
    let height: Int
    let bands: Int
    let minimumBands: Int
    let frames: Int
    let delays: [Int]
    let loop: Int
    let options: VipsSaveOptions
    private static let indexLevel: Int32 = 7

    init(_ image: VipsImage, options: VipsSaveOptions) throws {
        pixels = try image.pixels(token: options.token)
        let pixels = pixels
        let bands = image.bands
        guard 1...4 ~= bands else { throw VipsError(text: "PNG with \(bands) bands") }
        minimumBands = unsafe pixels.withUnsafeBytes {
            unsafe Int(CPNG_min_bands($0.baseAddress, $0.count / bands, Int32(bands)))
        }
        width = image.width
        self.bands = bands
        height = image.integer("page-height") ?? image.height
        frames = image.height / height
        delays = image.integers("delay")
        loop = image.integer("loop") ?? 0
        self.options = options
    }

    private var whole: Region { Region(frame: 0, left: 0, top: 0, width: width, height: height) }

    func file() throws(VipsError) -> SharedBytes {
        let exact = try unsafe indexed({ unsafe CPalettes_read($0, $1, $2) })
        let palette = if let exact { exact } else { try chosen() }
        return frames > 1 ? try animation(palette) : try still(whole, palette: palette, isExact: exact != nil)
    }

    private func still(_ region: Region, palette: IndexedPixels?, isExact: Bool) throws(VipsError) -> SharedBytes {
        let (file, depth) = try written(region, palette: palette)
        // With one byte per pixel, filters may save more than a palette, for example in smooth gradients. All frames
        // of an animation have the same color type: 8-bit gray is gray either way.
        guard palette != nil, isExact, depth == 8, frames == 1 || minimumBands == 1 else { return file }
        let other = try written(region).file
        return other.count < file.count ? other : file
    }

    private func chosen() throws(VipsError) -> IndexedPixels? {
        guard options.quality < 100 else { return nil }
        let error = Self.error(quality: options.quality)
        return try unsafe indexed({ unsafe CPalettes_choose($0, error, $1, $2) })
    }

    /// Writes an animation; later frames contain only the changed rectangle, and few colors share a palette.
    private func animation(_ palette: IndexedPixels?) throws(VipsError) -> SharedBytes {
        var result = ByteAccumulator()
        var sequence: UInt32 = 0
        for frame in 0..<frames {
            guard !options.token.shouldStop else { throw VipsError(text: "the work was stopped") }
            let region = frame == 0 ? whole : change(to: frame)
            // 8-bit gray has an exact palette.
            let still = try still(region, palette: palette, isExact: minimumBands == 1)
            unsafe still.withUnsafeBytes { bytes in
                let span = unsafe bytes.bytes
                var isBegun = false
                var chunks = PNGChunks()
                while let chunk = chunks.next(in: span) {
                    let data = unsafe UnsafeRawBufferPointer(rebasing: bytes[chunk.data])
                    if span.hasText("IDAT", at: chunk.type) {
                        if !isBegun { begin(region, sequence: &sequence, in: &result) }
                        isBegun = true
                        if frame == 0 {
                            unsafe result.append(chunk: "IDAT", data)
                        } else {
                            unsafe sequence.bigEndianBytes().withUnsafeBytes { number in
                                unsafe result.append(chunk: "fdAT", number, data)
                            }
                            sequence += 1
                        }
                    } else if frame == 0, !span.hasText("IEND", at: chunk.type) {
                        let isFirst = span.hasText("IHDR", at: chunk.type)
                        if isFirst { result.append(PNGChunks.signature) }
                        unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[chunk.range]))
                        if isFirst {
                            result.append(
                                chunk: "acTL",
                                UInt32(frames).bigEndianBytes() + UInt32(clamping: loop).bigEndianBytes())
                        }
                    }
                }
            }
        }
        result.append(chunk: "IEND", [])
        return result.finish()
    }

    private func begin(_ region: Region, sequence: inout UInt32, in result: inout ByteAccumulator) {
        let delay = region.frame < delays.count ? max(0, delays[region.frame]) : 100
        // Write longer delays in hundredths of a second.
        let unit = delay <= Int(UInt16.max) ? 1_000 : 100
        let numbers = [Int(sequence), region.width, region.height, region.left, region.top]
        result.append(
            chunk: "fcTL",
            numbers.flatMap { UInt32($0).bigEndianBytes() }
                + [delay * unit / 1_000, unit].flatMap { UInt16(clamping: $0).bigEndianBytes() } + [0, 0])
        sequence += 1
    }

    private func change(to frame: Int) -> Region {
        var changed = unsafe CPNGPart()
        let byteCount = width * height * bands
        let differs = unsafe pixels.withUnsafeBytes { bytes in
            let one = (frame - 1) * byteCount
            let other = frame * byteCount
            return unsafe CPNG_differ(
                bytes.baseAddress.map { unsafe $0 + one }, bytes.baseAddress.map { unsafe $0 + other }, width, height,
                Int32(bands), &changed)
        }
        guard differs != 0 else { return Region(frame: frame, left: 0, top: 0, width: 1, height: 1) }
        return unsafe Region(
            frame: frame, left: changed.left, top: changed.top, width: changed.width, height: changed.height)
    }

    /// Returns the error that a quality allows, in 8-bit steps.
    private static func error(quality: Int) -> Double { Double(100 - quality) / 5 }

    private func withPixels<Result>(_ body: (UnsafePointer<CPalettesPixels>) -> Result) -> Result {
        unsafe pixels.withUnsafeBytes { bytes in
            var pixels = unsafe CPalettesPixels(
                samples: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, width: Int32(width),
                height: Int32(height * frames), bands: Int32(bands))
            return unsafe body(&pixels)
        }
    }

    private func indexed(
        _ read: (
            UnsafePointer<CPalettesPixels>, UnsafeMutablePointer<CPalettesIndexed>, CPixelsWatch
        ) -> CPalettesStatus
    ) throws(VipsError) -> IndexedPixels? {
        var indexed = unsafe CPalettesIndexed()
        let watch = unsafe CPixelsWatch(options.token)
        switch unsafe withPixels({ unsafe read($0, &indexed, watch) }) {
        case CPalettesDone: return unsafe IndexedPixels(owning: indexed)
        case CPalettesManyColors: return nil
        default: throw VipsError(text: "the work was stopped, or there is no memory for a palette")
        }
    }

    private func written(
        _ region: Region, palette: IndexedPixels? = nil
    ) throws(VipsError) -> (file: SharedBytes, depth: Int) {
        let watch = unsafe CPixelsWatch(options.token)
        var base: UnsafeMutableRawPointer?
        var count = 0
        var depth = Int32(0)
        func write(_ canvas: UnsafePointer<UInt8>?, bands: Int, form: CPNGForm) -> Int32 {
            var source = unsafe CPNGPart(
                canvas: UnsafeMutablePointer(mutating: canvas), canvas_width: width, bands: Int32(bands),
                left: region.left, top: region.frame * height + region.top, width: region.width, height: region.height)
            return unsafe withUnsafePointer(to: form) {
                unsafe CPNG_write(&source, $0, watch, &base, &count, &depth)
            }
        }
        let minimum = Int32(minimumBands)
        let status =
            if let palette {
                unsafe palette.withIndexed { indexed, colors in
                    unsafe write(
                        indexed.indices, bands: 1,
                        form: CPNGForm(
                            bands: minimum, colors: colors, color_count: indexed.count, level: Self.indexLevel))
                }
            } else {
                unsafe pixels.withUnsafeBytes {
                    unsafe write(
                        $0.assumingMemoryBound(to: UInt8.self).baseAddress, bands: bands,
                        form: CPNGForm(bands: minimum, colors: nil, color_count: 0, level: Int32(options.effort)))
                }
            }
        guard status == 0 else { throw VipsError(text: "the work was stopped, or there is no memory for a PNG file") }
        return (unsafe SharedBytes(heap: base, count: count), Int(depth))
    }
}

extension VipsSaver {
    static let png = VipsSaver { image, options in try PNGFileWriter(image, options: options).file() }
}

@safe
private final class IndexedPixels {
    private let indexed: CPalettesIndexed

    init(owning indexed: CPalettesIndexed) { unsafe self.indexed = unsafe indexed }

    deinit { unsafe free(indexed.indices) }

    func withIndexed<Result>(
        _ body: (CPalettesIndexed, UnsafePointer<(UInt8, UInt8, UInt8, UInt8)>?) -> Result
    ) -> Result {
        unsafe withUnsafeBytes(of: indexed.colors) { colors in
            unsafe body(indexed, colors.assumingMemoryBound(to: (UInt8, UInt8, UInt8, UInt8).self).baseAddress)
        }
    }
}
