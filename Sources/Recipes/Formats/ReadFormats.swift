extension ImageFormat {
    /// The file extensions of ``raw``, by maker.
    package static let rawFileExtensions: Set = [
        "arw", "cr2", "cr3", "dng", "nef", "nrw", "orf", "pef", "raf", "rw2", "srw",
    ]
}

extension FormatTraits {
    static let heic = FormatTraits(
        mediaType: "image/heic", fileExtension: "heic", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 16_384, reading: codedImages, output: .replaced(opaque: .jpeg, transparent: .png))

    static let codedImages = Reading(
        // This decoder has had more security bugs than all others combined.
        needsConfinement: true,
        // Images with alpha and tiny images are decoded to pixels.
        mayHavePlanes: { !$0.hasAlpha && $0.frames == 1 },
        // The decoder's planes, our copy, and the pixels; double above 8 bits.
        memory: Memory(
            workingBytes: { header, _ in
                let planes = (header.isChromaSubsampled ? 8 : 14) + (header.hasAlpha ? 4 : 0)
                return header.bitDepth > 8 ? 2 * planes + 2 : planes
            }, isForEachFrame: true,
            frameBytes: { header in
                ((header.isChromaSubsampled ? 2 : 4) + (header.hasAlpha ? 2 : 0)) * (header.bitDepth > 8 ? 2 : 1)
            }),
        time: Time(pixel: 45, byte: 76, isAlphaApart: true))

    static let tiff = FormatTraits(
        mediaType: "image/tiff", fileExtension: "tiff", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 2_147_483_647,
        reading: Reading(
            needsConfinement: true, hasPageHeaders: true, hasCMYK: true,
            // A strip may hold the whole image or one row; libtiff keeps the offset of each.
            memory: Memory(workingBytes: { header, _ in
                2 * header.bands * max(1, header.bitDepth / 8) + 32 / max(1, header.storedSize.width)
            }),
            time: Time(pixel: 15, byte: 10)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    static let bmp = FormatTraits(
        mediaType: "image/bmp", fileExtension: "bmp", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 1_048_576,
        reading: Reading(memory: Memory(workingBytes: { header, _ in header.bands }), time: Time(pixel: 10, byte: 6)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    static let ico = FormatTraits(
        mediaType: "image/x-icon", fileExtension: "ico", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 1_048_576,
        reading: Reading(
            needsConfinement: true,
            // The decoded bitmap and its file; interlaced images are in memory twice.
            memory: Memory(workingBytes: { header, _ in
                8 + (header.isProgressive ? 2 * header.bands * max(1, header.bitDepth / 8) : 0)
            }),
            time: Time(pixel: 16, byte: 6)),
        output: .replaced(opaque: .png, transparent: .png))

    /// The properties of the preview, a JPEG file.
    static let raw = FormatTraits(
        mediaType: "image/x-dcraw", fileExtension: "raw", supportsAlpha: false, supportsAnimation: false,
        maximumSide: jpeg.maximumSide,
        reading: {
            var reading = jpeg.reading
            reading.needsConfinement = true
            reading.hasPreview = true
            reading.maximumHeaderBytes = 192 << 10
            return reading
        }(), output: .replaced(opaque: .jpeg, transparent: .png))

    static let svg = FormatTraits(
        mediaType: "image/svg+xml", fileExtension: "svg", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 32_767,
        reading: Reading(
            needsConfinement: true, isVector: true,
            // Intermediate images of filters in typical drawings.
            memory: Memory(workingBytes: { _, _ in 32 }), time: Time(pixel: 75, byte: 400)),
        output: .replaced(opaque: .png, transparent: .png))
}
