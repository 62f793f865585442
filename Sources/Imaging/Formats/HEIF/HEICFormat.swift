/// HEIC: HEVC images in HEIF files (ISO/IEC 23008-12).
enum HEICFormat {
    static let traits = FormatTraits(
        mediaType: "image/heic", fileExtension: "heic", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 16_384,
        reading: .init(
            leadingBytes: .brands(["heic", "heix", "heim", "heis", "hevc", "hevx"]),
            header: { bytes throws(ImagingError) in try HEIFHeader.read(bytes, format: .heic) },
            loader: .pixels { try HEIFReading.pixels($0, header: $1, plan: $2, token: $3) },
            needsConfinement: true,
            planes: planes,
            memory: memory,
            time: .init(pixel: 45, byte: 76, isAlphaApart: true)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    /// Alpha and tiny images require pixels.
    static let planes = FormatTraits.Planes(
        mayHold: { !$0.hasAlpha && $0.frames == 1 },
        decode: { file, header, plan, token, room, _ in
            try HEIFReading.planes(file, header: header, plan: plan, token: token, room: room)
        })

    /// The decoder's planes, our copy, and the pixels; twice as much above 8 bits.
    static let memory = FormatTraits.Memory(
        workingBytes: { header, _ in
            let planes = (header.isChromaSubsampled ? 8 : 14) + (header.hasAlpha ? 4 : 0)
            return header.bitDepth > 8 ? 2 * planes + 2 : planes
        }, isForEachFrame: true,
        frameBytes: { header in
            ((header.isChromaSubsampled ? 2 : 4) + (header.hasAlpha ? 2 : 0)) * (header.bitDepth > 8 ? 2 : 1)
        })
}
