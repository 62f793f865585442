import CPNG
import Coordination
import Memory
import Recipes

/// The decoder of docs/png.md, with the same pixels as libvips.
enum PNGPixels {
    /// Decodes the file; nil if libvips must decode it or report its errors.
    static func decode(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, allocate: PlaneMemory.Allocator
    ) throws -> DecodedPixels? {
        // Tone mapping comes before averaging, and uses all 16 bits if present.
        guard !plan.needsFrames(of: header), header.colors.encoding?.isHDR != true else { return nil }
        return try unsafe file.withUnsafeBytes { bytes throws in
            var image = unsafe CFastPNGImage()
            guard unsafe CFastPNG_open(bytes.baseAddress, bytes.count, &image) == CFastPNGDone,
                unsafe PixelSize(width: Int(image.width), height: Int(image.height)) == header.storedSize,
                case .found(let profile) = unsafe ProfileSearch(bytes, header: header)
            else { return nil }
            let size = header.storedSize.reduced(by: plan.level)
            let bands = unsafe Int(image.bands)
            let count = size.area * bands
            let isFinished = header.orientation == .none && profile == nil && header.colors.encoding == nil
            let memory = isFinished ? try allocate(count) : try PlaneMemory(count: count)
            let watch = unsafe CPixelsWatch(token)
            switch unsafe CFastPNG_read(&image, Int32(plan.level), memory.bytes.baseAddress, watch) {
            case CFastPNGDone: break
            case CFastPNGMemory: throw ImagingError.outOfMemory(detail: "no memory for the PNG decoder")
            default:
                try token.check()
                return nil
            }
            return DecodedPixels(
                pixels: memory.finish(), size: size, level: plan.level, bands: bands, profile: profile,
                isFinished: isFinished)
        }
    }
}

/// The result of looking for a profile like libpng; failed if libvips could not open the file.
private enum ProfileSearch {
    case found(SharedBytes?)
    case failed

    @unsafe
    init(_ file: UnsafeRawBufferPointer, header: ImageHeader) {
        guard header.profileByteCount > 0 else {
            self = .found(nil)
            return
        }
        guard let image = try? unsafe VipsImage.loading(file, format: .png, options: VipsLoadOptions()) else {
            self = .failed
            return
        }
        self = .found(image.profile)
    }
}
