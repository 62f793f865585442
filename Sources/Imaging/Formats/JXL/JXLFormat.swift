import CVipsShim
import Memory

/// JPEG XL (ISO/IEC 18181).
enum JXLFormat {
    static let traits = FormatTraits(
        mediaType: "image/jxl", fileExtension: "jxl", supportsAlpha: true, supportsAnimation: false,
        // The longest side of the standard's level 5.
        maximumSide: 262_144,
        reading: .init(
            leadingBytes: .parts([[0: [0xFF, 0x0A]], [0: JXLContainer.signature]]),
            header: { bytes throws(ImagingError) in try JXLHeader.read(bytes) },
            loader: .pixels { file, header, _, token in
                try JXLPixels.decode(JXLContainer.codestream(in: file), header: header, token: token)
            },
            needsConfinement: true,
            memory: .init(workingBytes: { header, _ in 12 * (header.bands + 1) }),
            time: .init(pixel: 80, byte: 60)),
        output: .written(
            .init(
                saver: VipsSaver { image, options in
                    let isWide = options.settings.isWide && image.bands >= 3
                    let profiled = isWide ? try image.profiled(SharedBytes(ColorProfile.displayP3File)) : image
                    return try unsafe profiled.saved(options, by: CVipsShim_save_jxl)
                },
                quality: .jxl, effort: 5,
                version: 3, fullChromaFrom: nil, isSlow: true, isUninterruptible: true,
                photographBytes: [(0, 50), (2_500, 97), (40_000, 95), (100_000, 91)],
                memory: .init(pixel: 120, least: 4 << 20),
                time: .init(pixel: 190, alpha: 340))))
}
