import CPlanarShim
import CVipsShim
import Coordination
import Memory
import Recipes

enum JXLFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .parts([[0: [0xFF, 0x0A]], [0: JXLContainer.signature]]),
            header: { bytes throws(ImagingError) in try JXLHeader.read(bytes) },
            loader: .pixels { file, header, _, token in
                try JXLPixels.decode(JXLContainer.codestream(in: file), header: header, token: token)
            }),
        encoding: .init(
            saver: VipsSaver { image, options in
                let isWide = options.settings.isWide && image.bands >= 3
                let profiled = isWide ? try image.profiled(SharedBytes(ColorProfile.displayP3File)) : image
                return try unsafe profiled.saved(options, by: CVipsShim_save_jxl)
            }))
}

enum JXLPixels {
    /// libjxl cannot be interrupted.
    static func decode(_ codestream: SharedBytes, header: ImageHeader, token: WorkToken) throws -> DecodedPixels {
        try unsafe codestream.withUnsafeBytes { bytes throws in
            guard let reader = unsafe CPlanarShim_jxl_open(bytes.baseAddress, bytes.count) else {
                throw ImagingError.outOfMemory(detail: "libjxl cannot be started")
            }
            defer { unsafe CPlanarShim_jxl_close(reader) }
            func check(_ status: CPlanarShimStatus) throws {
                guard status == CPlanarShimDone else {
                    throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanarShim_jxl_text(reader)))
                }
                try token.check()
            }

            var image = unsafe CPlanarShimJXLHeader()
            try check(unsafe CPlanarShim_jxl_header(reader, &image))
            let size = unsafe PixelSize(width: Int(image.width), height: Int(image.height))
            let bands = unsafe Int(image.bands)
            guard size == header.storedSize, 1...4 ~= bands else {
                throw ImagingError.cannotDecode(detail: "the header says \(header.storedSize), libjxl says \(size)")
            }
            try checkFrames(unsafe bytes.bytes, from: unsafe image.first_frame, header: header)
            let isWide = unsafe image.is_wide != 0
            let memory = try PlaneMemory(count: size.area * bands * (isWide ? 2 : 1))
            var isIncomplete: CInt = 0
            try check(
                unsafe CPlanarShim_jxl_pixels(reader, &image, memory.bytes.baseAddress, &isIncomplete))
            let profile = unsafe UnsafeRawBufferPointer(start: image.profile, count: image.profile_size)
            return unsafe DecodedPixels(
                pixels: memory.finish(), size: size, bands: bands,
                profile: 1...ICCProfile.longest ~= profile.count ? SharedBytes(profile) : nil,
                isWide: isWide, isIncomplete: isIncomplete != 0)
        }
    }
    /// Checks the frames again from the offset that libjxl finds behind a compressed profile.
    private static func checkFrames(
        _ codestream: RawSpan, from offset: Int, header: ImageHeader
    ) throws(ImagingError) {
        let parts = [0..<codestream.byteCount]
        let image = try JXLHeader.image(codestream, parts).image
        guard try !JXLFrames.havePatches(codestream, parts, of: image, from: offset) || header.decoderRuns > 0 else {
            throw .cannotDecode(detail: "the header has no patches, libjxl finds some")
        }
    }
}
