import CPlanarShim
import Coordination
import Memory

/// Reads the pixels of the primary item of an AVIF or HEIC file: upright, cropped as the file says, colours as stored;
/// 8 bits, or 16 of PQ and HLG.
enum HEIFPixels {
    /// Whether AVIF can be read; to be asked before a process is confined, because libheif looks for its decoders at
    /// the first call.
    static var isAvailable: Bool { CPlanarShim_heif_reads_av1() != 0 }

    /// Decodes a file; libheif cannot be stopped.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or the error of `token`.
    static func decode(_ file: SharedBytes, header: ImageHeader, token: WorkToken) throws -> LoadedPixels {
        guard let reader = unsafe CPlanarShim_heif_open() else {
            throw ImagingError.cannotDecode(detail: "libheif cannot be started")
        }
        defer { unsafe CPlanarShim_heif_close(reader) }
        func check(_ status: CPlanarShimStatus) throws {
            guard status == CPlanarShimDone else {
                throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanarShim_heif_text(reader)))
            }
            try token.check()
        }

        var item = unsafe CPlanarShimHEIFHeader()
        defer { extendLifetime(file) }
        let status = unsafe file.withUnsafeBytes {
            unsafe CPlanarShim_heif_decode(reader, $0.baseAddress, $0.count, &item)
        }
        try check(status)
        let size = unsafe PixelSize(width: Int(item.width), height: Int(item.height))
        guard size == header.size else {
            throw ImagingError.cannotDecode(detail: "the header says \(header.size), libheif says \(size)")
        }
        let bands = unsafe Int(item.bands)
        let isWide = bands >= 3 && header.colors.encoding?.isBright == true
        let memory = PlaneMemory(count: size.area * bands * (isWide ? 2 : 1))
        try check(unsafe CPlanarShim_heif_pixels(reader, &item, isWide ? 1 : 0, memory.bytes.baseAddress))
        let profile = unsafe UnsafeRawBufferPointer(start: item.profile, count: item.profile_size)
        return unsafe LoadedPixels(
            pixels: memory.finish(), size: size, bands: bands,
            profile: 1...ICCProfile.longest ~= profile.count ? SharedBytes(profile) : nil, isWide: isWide)
    }
}
