import Memory

// The traits of each format. Settings, dialects, negotiation, cost estimates, limits, the self-test, worker warm-up and
// protocol, and the tests all read this one table.

extension ImageFormat {
    var traits: FormatTraits {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif: .avif
        case .heic: .heic
        case .jxl: .jxl
        case .tiff: .tiff
        case .bmp: .bmp
        case .ico: .ico
        case .svg: .svg
        }
    }
}

extension FormatTraits {
    static let jpeg = FormatTraits(
        mediaType: "image/jpeg", fileExtension: "jpg", supportsAlpha: false, supportsAnimation: false,
        // The format allows 65,535; readers accept libjpeg's limit, which is lower.
        maximumSide: 65_500,
        reading: Reading(
            leadingBytes: .parts([[0: [0xFF, 0xD8, 0xFF]]]),
            header: { bytes throws(ImagingError) in try .jpeg(bytes) },
            loader: .vips(.jpeg),
            reduction: .transform,
            warmUp: .written(bands: 3),
            hasCMYK: true,
            trim: { file, header, _ throws(ImagingError) in JPEGTrimming.trim(file, header: header) },
            damage: Damage(lacksPixels: { try JPEGPlanes.lacksPixels($0, header: $1, token: $2) }),
            planes: Planes(
                mayHold: { $0.bands == 1 || $0.bands == 3 },
                decode: { try JPEGPlanes.decode($0, header: $1, plan: $2, token: $3, room: $4, decoder: $5) }),
            memory: Memory(workingBytes: { header, _ in
                // All coefficients of a progressive image, two bytes each, at every level.
                header.isProgressive ? header.isChromaSubsampled ? 3 : 2 * header.bands : 0
            }),
            time: Time(pixel: 10, byte: 10)),
        output: .written(
            Writing(
                saver: .jpeg, quality: .same, effort: JPEGScanChoice.bySize.rawValue, version: 3,
                planes: .jpeg, photographBytes: [(0, 100)], attribute: EXIFWriting.jpeg,
                joinGainMap: GainMapWriting.jpeg, addProfile: ProfileWriting.jpeg,
                // The coefficients of all scans stay in memory, two bytes each.
                memory: WritingMemory(pixel: 12, fullChroma: 3),
                time: WritingTime(pixel: 34, fine: 32))))

    static let png = FormatTraits(
        mediaType: "image/png", fileExtension: "png", supportsAlpha: true, supportsAnimation: true,
        maximumSide: 2_147_483_647,
        reading: Reading(
            leadingBytes: .parts([[0: [0x89] + Array("PNG\r\n\u{1A}\n".utf8)]]),
            header: { bytes throws(ImagingError) in try .png(bytes) },
            loader: .vips(.png),
            quickLoader: {
                try PNGPixels.decode($0, header: $1, plan: $2, token: $3, room: $4)
            },
            frames: { try PNGFrames.pixels($0, header: $1, plan: $2, token: $3) },
            warmUp: .written(bands: 4),
            trim: { file, header, plan throws(ImagingError) in
                plan.needsFrames(of: header) ? file : PNGTrimming.trim(file)
            },
            damage: Damage(
                withoutSurplus: { try PNGRepair.withoutSurplus($0, token: $1) },
                repairAfterFailure: { file, _, plan, token in try PNGRepair.repair(file, plan: plan, token: token) }),
            memory: Memory(workingBytes: { header, _ in
                // An interlaced image is complete only after its last pass, so all of it stays in memory. An animation
                // needs the canvas, a saved copy of it, and the frame.
                (header.isProgressive ? header.bands * max(1, header.bitDepth / 8) : 0)
                    + (header.frames > 1 ? 3 * header.bands : 0)
            }),
            time: Time(pixel: 6, byte: 6, animation: 18)),
        output: .written(
            Writing(
                saver: .png, quality: nil, hasPaletteQuality: true, effort: 2, version: 3, attribute: EXIFWriting.png,
                addProfile: ProfileWriting.png,
                // The pixels, their indices, and the file.
                memory: WritingMemory(pixel: 12, palette: 12 << 20),
                time: WritingTime(pixel: 115, alpha: 20, palette: 20, paletteOnce: 40_000_000))))

    static let webp = FormatTraits(
        mediaType: "image/webp", fileExtension: "webp", supportsAlpha: true, supportsAnimation: true,
        isUsualAnimation: true, maximumSide: 16_383,
        reading: Reading(
            leadingBytes: .parts([[0: Array("RIFF".utf8), 8: Array("WEBP".utf8)]]),
            header: { bytes throws(ImagingError) in try .webp(bytes) },
            loader: .vips(.webp),
            reduction: .scaler,
            warmUp: .written(bands: 4),
            trim: { file, header, plan throws(ImagingError) in
                try WebPTrimming.trim(file, frames: plan.page + plan.frames(of: header))
            },
            planes: Planes(
                // Only libwebp's header parser knows whether the file is lossless.
                mayHold: { $0.frames == 1 && !$0.hasAlpha && $0.profileByteCount == 0 },
                decode: { file, header, plan, token, room, _ in
                    try WebPPlanes.decode(file, header: header, plan: plan, token: token, room: room)
                }),
            memory: Memory(
                // A lossless image, or one with alpha, passes through three buffers; the scaler needs only one of them.
                workingBytes: { header, isWhole in header.frames > 1 ? 4 : isWhole ? 12 : 8 },
                isForEachFrame: true),
            time: Time(pixel: 2, byte: 56, leastPixel: 17, animation: 25, isAlphaApart: true)),
        output: .written(
            Writing(
                saver: .webp, quality: .webp, effort: 5, version: 4, fullChromaFrom: nil, planes: .webp,
                maximumSharpPixels: 200_000,
                photographBytes: [(0, 60), (2_500, 90), (40_000, 96), (100_000, 99), (150_000, 101), (500_000, 109)],
                attribute: EXIFWriting.webp,
                addProfile: ProfileWriting.webp,
                memory: WritingMemory(pixel: 24, alpha: 20),
                time: WritingTime(pixel: 230, alpha: 145))))

    static let gif = FormatTraits(
        mediaType: "image/gif", fileExtension: "gif", supportsAlpha: true, supportsAnimation: true,
        isUsualAnimation: true, maximumSide: 65_535,
        reading: Reading(
            leadingBytes: .parts([[0: Array("GIF87a".utf8)], [0: Array("GIF89a".utf8)]]),
            header: { bytes throws(ImagingError) in try .gif(bytes) },
            loader: .vips(.gif),
            warmUp: .written(bands: 3),
            damage: Damage(repair: { file, header, plan throws(ImagingError) in
                try GIFRepair.repair(file, header: header, plan: plan)
            }),
            memory: Memory(workingBytes: { _, _ in 5 }),
            time: Time(pixel: 15, byte: 10)),
        output: .written(
            Writing(
                saver: .gif, quality: nil, effort: 3, isSlow: true, isInOneStep: true, holdsWideColors: false,
                memory: WritingMemory(pixel: 18),
                time: WritingTime(pixel: 400, animation: 170, once: 45_000_000))))

    static let avif = FormatTraits(
        mediaType: "image/avif", fileExtension: "avif", supportsAlpha: true, supportsAnimation: true,
        maximumSide: 16_384,
        reading: Reading(
            leadingBytes: .brands(["avif", "avis"]),
            header: { bytes throws(ImagingError) in try .heif(bytes, format: .avif) },
            loader: .pixels { try HEIFReading.pixels($0, header: $1, plan: $2, token: $3) },
            // This decoder has had more security bugs than all others together.
            needsConfinement: true,
            planes: .heif,
            memory: .heif,
            time: Time(pixel: 45, byte: 76, isAlphaApart: true)),
        output: .written(
            Writing(
                saver: .avif,
                quality: .avif,
                effort: 1, bitDepths: [10, 8], version: 3, fullChromaFrom: 1, isSlow: true, isInOneStep: true,
                animatesInOneStep: true, planes: .avif,
                photographBytes: [(0, 105), (2_500, 85), (40_000, 84), (500_000, 89)],
                // Setup takes 8 MiB at any size. The pixels exist twice, in two processes. Animations keep frames that
                // later ones may refer to.
                memory: WritingMemory(
                    pixel: 60, animation: (frame: 8, pixel: 30, once: 16 << 20), least: 8 << 20),
                time: WritingTime(pixel: 750, fine: 450, alpha: 420, once: 6_000_000))))

    static let heic = FormatTraits(
        mediaType: "image/heic", fileExtension: "heic", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 16_384,
        reading: Reading(
            leadingBytes: .brands(["heic", "heix", "heim", "heis", "hevc", "hevx"]),
            header: { bytes throws(ImagingError) in try .heif(bytes, format: .heic) },
            loader: .pixels { try HEIFReading.pixels($0, header: $1, plan: $2, token: $3) },
            needsConfinement: true,
            planes: .heif,
            memory: .heif,
            time: Time(pixel: 45, byte: 76, isAlphaApart: true)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    static let jxl = FormatTraits(
        mediaType: "image/jxl", fileExtension: "jxl", supportsAlpha: true, supportsAnimation: false,
        // The longest side of the standard's level 5.
        maximumSide: 262_144,
        reading: Reading(
            leadingBytes: .parts([[0: [0xFF, 0x0A]], [0: JXLContainer.signature]]),
            header: { bytes throws(ImagingError) in try .jxl(bytes) },
            loader: .pixels { file, header, _, token in
                let place = file.withBytes { JXLContainer.place(ofCodestreamIn: $0) }
                return try JXLPixels.decode(file, at: place, header: header, token: token)
            },
            needsConfinement: true,
            memory: Memory(workingBytes: { header, _ in 12 * (header.bands + 1) }),
            time: Time(pixel: 80, byte: 60)),
        output: .written(
            Writing(
                saver: .jxl,
                quality: .jxl, effort: 5,
                version: 3, fullChromaFrom: nil, isSlow: true, isInOneStep: true,
                photographBytes: [(0, 50), (2_500, 97), (40_000, 95), (100_000, 91)],
                memory: WritingMemory(pixel: 120, least: 4 << 20),
                time: WritingTime(pixel: 190, alpha: 340))))

    static let tiff = FormatTraits(
        mediaType: "image/tiff", fileExtension: "tiff", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 2_147_483_647,
        reading: Reading(
            leadingBytes: .parts(
                ["II*\0", "MM\0*", "II+\0", "MM\0+"].map { [0: Array($0.utf8)] }),
            header: { bytes throws(ImagingError) in try .tiff(bytes) },
            loader: .vips(.tiff),
            storedPage: { ImageHeader.tiffDirectory(ofPage: $1, in: $0) },
            needsConfinement: true,
            warmUp: .file(SampleFiles.tiff),
            holdsPages: true,
            hasCMYK: true,
            // A strip may be the whole image.
            memory: Memory(workingBytes: { header, _ in 2 * header.bands * max(1, header.bitDepth / 8) }),
            time: Time(pixel: 15, byte: 10)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    static let bmp = FormatTraits(
        mediaType: "image/bmp", fileExtension: "bmp", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 1_048_576,
        reading: Reading(
            // Any text could begin with these two letters; no second header is longer than 255 bytes.
            leadingBytes: .parts([[0: Array("BM".utf8), 15: [0, 0, 0]]]),
            header: { bytes throws(ImagingError) in try .bmp(bytes) },
            loader: .pixels { file, _, _, token in try BMPPixels.decode(file, token: token) },
            memory: Memory(workingBytes: { header, _ in header.bands }),
            time: Time(pixel: 10, byte: 6)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    static let ico = FormatTraits(
        mediaType: "image/x-icon", fileExtension: "ico", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 1_048_576,
        reading: Reading(
            // No icon has more than 255 images.
            leadingBytes: .parts([[0: [0, 0, 1, 0], 5: [0]]]),
            header: { bytes throws(ImagingError) in try ICOImage(bytes).header },
            loader: .pixels { file, _, plan, token in try ICOPixels.decode(file, plan: plan, token: token) },
            needsConfinement: true,
            warmUp: .file(SampleFiles.ico),
            // The decoded bitmap and its file; an interlaced image is in memory twice.
            memory: Memory(workingBytes: { header, _ in
                8 + (header.isProgressive ? 2 * header.bands * max(1, header.bitDepth / 8) : 0)
            }),
            time: Time(pixel: 16, byte: 6)),
        output: .replaced(opaque: .png, transparent: .png))

    static let svg = FormatTraits(
        mediaType: "image/svg+xml", fileExtension: "svg", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 32_767,
        reading: Reading(
            leadingBytes: .markup { SVGRoot.begins($0) },
            header: { bytes throws(ImagingError) in try .svg(bytes) },
            loader: .pixels { file, header, plan, token in
                try SVGPixels.draw(file, header: header, part: plan.drawnPart, token: token) { file, most in
                    try ImageDecoder.embeddedPNG(of: file, most: most, token: token)
                }
            },
            needsConfinement: true,
            warmUp: .file(SampleFiles.svg),
            holdsShapes: true,
            // The intermediate images of filters in typical drawings.
            memory: Memory(workingBytes: { _, _ in 32 }),
            time: Time(pixel: 75, byte: 400)),
        output: .replaced(opaque: .png, transparent: .png))
}

extension FormatTraits.Planes {
    /// Alpha and tiny images require pixels.
    fileprivate static let heif = FormatTraits.Planes(
        mayHold: { !$0.hasAlpha && $0.frames == 1 },
        decode: { file, header, plan, token, room, _ in
            try HEIFReading.planes(file, header: header, plan: plan, token: token, room: room)
        })
}

extension FormatTraits.Memory {
    /// The decoder's planes, our copy, and the pixels; twice as much above 8 bits.
    fileprivate static let heif = FormatTraits.Memory(
        workingBytes: { header, _ in
            let planes = (header.isChromaSubsampled ? 8 : 14) + (header.hasAlpha ? 4 : 0)
            return header.bitDepth > 8 ? 2 * planes + 2 : planes
        }, isForEachFrame: true,
        frameBytes: { header in
            ((header.isChromaSubsampled ? 2 : 4) + (header.hasAlpha ? 2 : 0)) * (header.bitDepth > 8 ? 2 : 1)
        })
}
