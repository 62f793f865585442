import CPlanarShim
import Coordination
import Memory

/// The primary item of an AVIF or HEIC file in pixels: upright and cut as the file says, 8 bits, colours as they are stored.
struct HEIFPixels {
    /// Rows without gaps, bands interleaved.
    let pixels: SharedBytes
    /// 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha.
    let bands: Int
    /// The ICC profile, if there is one.
    let profile: SharedBytes?

    /// Whether AVIF can be read; to be asked before a process gives up opening files, because libheif looks for its decoders then.
    static var isAvailable: Bool { CPlanarShim_heif_reads_av1() != 0 }

    /// Decodes a file; libheif cannot be stopped meanwhile.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or what `token` says.
    init(_ file: SharedBytes, header: ImageHeader, token: WorkToken) throws {
        guard let reader = unsafe CPlanarShim_heif_open() else {
            throw ImagingError.cannotDecode(detail: "libheif does not start")
        }
        defer { unsafe CPlanarShim_heif_close(reader) }
        func check(_ status: CPlanarShimStatus) throws {
            guard status == CPlanarShimDone else {
                throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanarShim_heif_text(reader)))
            }
            try token.check()
        }

        var head = unsafe CPlanarShimHEIFHeader()
        defer { extendLifetime(file) }
        let status = unsafe file.withUnsafeBytes {
            unsafe CPlanarShim_heif_decode(reader, $0.baseAddress, $0.count, &head)
        }
        try check(status)
        let size = unsafe PixelSize(width: Int(head.width), height: Int(head.height))
        guard size == header.size else {
            throw ImagingError.cannotDecode(detail: "head says \(header.size), libheif \(size)")
        }
        bands = unsafe Int(head.bands)
        let memory = PlaneMemory(count: size.area * bands)
        try check(
            unsafe CPlanarShim_heif_pixels(
                reader, &head, memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress))
        pixels = memory.finish()
        let profile = unsafe UnsafeRawBufferPointer(start: head.profile, count: head.profile_size)
        self.profile = unsafe 1...ICCProfile.longest ~= profile.count ? SharedBytes(profile) : nil
    }
}
