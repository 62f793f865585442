import CPlanar
import CVipsShim
import Coordination
import Glibc
import Memory
import Recipes

enum JXLPixels {
    /// Decodes a codestream by libjxl, which cannot be interrupted.
    static func decode(_ codestream: SharedBytes, header: ImageHeader, token: WorkToken) throws -> DecodedPixels {
        try unsafe codestream.withUnsafeBytes { bytes throws in
            guard let reader = unsafe CPlanar_jxl_open(bytes.baseAddress, bytes.count) else {
                throw ImagingError.outOfMemory(detail: "libjxl cannot be started")
            }
            defer { unsafe CPlanar_jxl_close(reader) }
            func check(_ status: CPlanarStatus) throws {
                guard status == CPlanarDone else {
                    throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanar_jxl_text(reader)))
                }
                try token.check()
            }

            var image = unsafe CPlanarJXLHeader()
            try check(unsafe CPlanar_jxl_header(reader, &image))
            let size = unsafe PixelSize(width: Int(image.width), height: Int(image.height))
            let bands = unsafe Int(image.bands)
            guard size == header.storedSize, 1...4 ~= bands else {
                throw ImagingError.cannotDecode(detail: "the header says \(header.storedSize), libjxl says \(size)")
            }
            try checkFrames(unsafe bytes.bytes, from: unsafe image.first_frame, header: header)
            let has16Bits = unsafe image.is_wide != 0
            let memory = try PlaneMemory(count: size.area * bands * (has16Bits ? 2 : 1))
            var isIncomplete: CInt = 0
            try check(unsafe CPlanar_jxl_pixels(reader, &image, memory.bytes.baseAddress, &isIncomplete))
            let profile = unsafe UnsafeRawBufferPointer(start: image.profile, count: image.profile_size)
            return unsafe DecodedPixels(
                pixels: memory.finish(), size: size, bands: bands,
                profile: 1...ICCProfile.maximumLength ~= profile.count ? SharedBytes(profile) : nil,
                has16Bits: has16Bits, isIncomplete: isIncomplete != 0)
        }
    }
    /// Checks the frames again, from the offset that libjxl finds after a compressed profile.
    private static func checkFrames(_ codestream: RawSpan, from offset: Int, header: ImageHeader) throws(ImagingError) {
        let fragments = [0..<codestream.byteCount]
        let image = try JXLHeader.image(codestream, fragments: fragments).image
        guard
            try !JXLFrames.work(codestream, fragments: fragments, of: image, from: offset).hasPatches
                || header.work.runs > 0
        else {
            throw .cannotDecode(detail: "the header has no patches, libjxl finds some")
        }
    }
}
