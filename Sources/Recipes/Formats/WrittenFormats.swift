extension FormatTraits {
    static let jpeg = FormatTraits(
        mediaType: "image/jpeg", fileExtension: "jpg", supportsAlpha: false, supportsAnimation: false,
        // libjpeg's limit; the format allows 65,535.
        maximumSide: 65_500,
        reading: Reading(
            reduction: .transform, hasCMYK: true, mayHavePlanes: { $0.bands == 1 || $0.bands == 3 },
            memory: Memory(workingBytes: { header, _ in
                // All coefficients of a progressive image, two bytes each, independent of the level.
                header.isProgressive ? header.isChromaSubsampled ? 3 : 2 * header.bands : 0
            }),
            time: Time(pixel: 10, byte: 10)),
        output: .written(
            Writing(
                quality: .same, effort: JPEGScanChoice.bySize.rawValue, version: 4, maximumSharpPixels: 200_000,
                photographBytes: [(0, 100)], holdsEXIF: true, holdsRightsAsEXIF: true, holdsGainMap: true,
                // The coefficients of all scans, two bytes each.
                memory: WritingMemory(pixel: 12, fullChroma: 3), time: WritingTime(pixel: 34, fine: 32))))

    static let png = FormatTraits(
        mediaType: "image/png", fileExtension: "png", supportsAlpha: true, supportsAnimation: true,
        maximumSide: 2_147_483_647,
        reading: Reading(
            memory: Memory(workingBytes: { header, _ in
                // An interlaced image stays in memory completely until its last pass. An animation needs the canvas, a
                // saved copy of it, and the frame.
                (header.isProgressive ? header.bands * max(1, header.bitDepth / 8) : 0)
                    + (header.frames > 1 ? 3 * header.bands : 0)
            }),
            time: Time(pixel: 6, byte: 6, animation: 18)),
        output: .written(
            Writing(
                quality: nil, hasPaletteQuality: true, effort: 2, version: 4, holdsEXIF: true,
                // The pixels, their indices, and the file.
                memory: WritingMemory(pixel: 12, palette: 12 << 20),
                time: WritingTime(pixel: 115, alpha: 20, palette: 20, palettePerImage: 40_000_000))))

    static let webp = FormatTraits(
        mediaType: "image/webp", fileExtension: "webp", supportsAlpha: true, supportsAnimation: true,
        isCommonAnimation: true, maximumSide: 16_383,
        reading: Reading(
            reduction: .scaler,
            // Only libwebp's header parser knows whether the file is lossless.
            mayHavePlanes: { $0.frames == 1 && !$0.hasAlpha && $0.profileByteCount == 0 },
            memory: Memory(
                // A lossless image or one with alpha passes through three buffers; the scaler needs only one.
                workingBytes: { header, isWhole in header.frames > 1 ? 4 : isWhole ? 12 : 8 },
                isForEachFrame: true),
            time: Time(pixel: 2, byte: 56, minimumPixel: 17, animation: 25, isAlphaApart: true)),
        output: .written(
            Writing(
                quality: .webp, effort: 2, version: 6, fullChromaFrom: nil, maximumSharpPixels: 200_000,
                photographBytes: [(0, 64), (2_500, 95), (40_000, 106), (100_000, 109), (150_000, 111), (500_000, 121)],
                holdsEXIF: true, holdsRightsAsEXIF: true, losslessTime: 1_100,
                // Histograms of up to 2,600 blocks, and the matches of each pixel.
                memory: WritingMemory(pixel: 24, alpha: 20, lossless: (pixel: 48, once: 24 << 20)),
                time: WritingTime(pixel: 120, alpha: 145))))

    static let gif = FormatTraits(
        mediaType: "image/gif", fileExtension: "gif", supportsAlpha: true, supportsAnimation: true,
        isCommonAnimation: true, maximumSide: 65_535,
        reading: Reading(memory: Memory(workingBytes: { _, _ in 5 }), time: Time(pixel: 15, byte: 10)),
        output: .written(
            Writing(
                quality: nil, effort: 3, isSlow: true, isUninterruptible: true, holdsPacket: false,
                holdsWideColors: false,
                memory: WritingMemory(pixel: 18), time: WritingTime(pixel: 400, animation: 170, once: 45_000_000))))

    static let avif = FormatTraits(
        mediaType: "image/avif", fileExtension: "avif", supportsAlpha: true, supportsAnimation: true,
        maximumSide: 16_384, reading: codedImages,
        output: .written(
            Writing(
                quality: .avif, effort: 1, bitDepths: [10, 8], version: 3, fullChromaFrom: 1, isSlow: true,
                isUninterruptible: true, isUninterruptibleAnimation: true,
                photographBytes: [(0, 108), (2_500, 88), (40_000, 87), (500_000, 89)],
                // Setup takes 8 MiB at any size. The pixels are in two processes. Animations keep frames that later
                // ones may refer to.
                memory: WritingMemory(pixel: 60, animation: (frame: 8, pixel: 30, once: 16 << 20), minimum: 8 << 20),
                time: WritingTime(pixel: 750, fine: 450, alpha: 420, once: 6_000_000))))

    static let jxl = FormatTraits(
        mediaType: "image/jxl", fileExtension: "jxl", supportsAlpha: true, supportsAnimation: false,
        // The longest side of the standard's level 5.
        maximumSide: 262_144,
        reading: Reading(
            needsConfinement: true, memory: Memory(workingBytes: { header, _ in 12 * (header.bands + 1) }),
            time: Time(pixel: 80, byte: 60)),
        output: .written(
            Writing(
                quality: .jxl, effort: 5, version: 5, fullChromaFrom: nil, isSlow: true, isUninterruptible: true,
                photographBytes: [(0, 52), (2_500, 100), (10_000, 95), (40_000, 92), (150_000, 91), (500_000, 89)],
                losslessTime: 1_700,
                memory: WritingMemory(pixel: 120, minimum: 4 << 20), time: WritingTime(pixel: 190, alpha: 340))))
}
