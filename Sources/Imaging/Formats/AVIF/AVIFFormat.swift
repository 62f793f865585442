import Recipes

/// AVIF: AV1 images in HEIF files (AV1 Image File Format).
enum AVIFFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .brands(["avif", "avis"]),
            header: { bytes throws(ImagingError) in try HEIFHeader.read(bytes, format: .avif) },
            loader: .pixels { try HEIFReader.pixels($0, header: $1, plan: $2, token: $3) },
            planes: HEICFormat.planes, metadata: HEIFHeader.metadata, outline: HEIFHeader.outline(.avif)),
        encoding: .init(
            saver: .avif, planes: .avif,
            addPacket: { file, packet, _ in
                AVIFMetadata.withPacket(file, packet: packet)
            }))
}

/// libaom's settings for an effort and a quality, chosen by measurement (docs/measurements/avif.md).
struct AVIFEffort {
    let effort: Int

    /// The speed, 0…9; lower speeds take longer, and animations are encoded in real-time mode.
    func speed(isStill: Bool) -> Int {
        let speeds = isStill ? Self.stillSpeeds : Self.liveSpeeds
        return speeds[min(effort, speeds.count - 1)]
    }

    /// Omits speeds 7 and 1: their files are no smaller than the files of speeds 8 and 2.
    private static let stillSpeeds = [9, 8, 6, 5, 4, 3, 2, 0]
    /// Real-time speeds begin at 5; at 7, libaom 3.6 crashes on images without chroma.
    private static let liveSpeeds = [9, 8, 6, 5]

    /// The range of quantization matrices, within 0…15; lower ones are coarser in fine detail.
    ///
    /// From level 30 upward, coarser matrices reduce file sizes at the same visual quality.
    static func matrices(level: Int, isTuned: Bool = false) -> ClosedRange<Int> {
        level < 30 && !isTuned ? 4...12 : 2...10
    }

    /// Smaller files at the fastest speeds, which try few transforms.
    var hasCosinesAlone: Bool { effort < 2 }

    /// The quantizer level for a quality, from 0 (lossless) to 63.
    ///
    /// Levels are distributed as in libheif, with an offset for our better settings. At level 0, libaom 3.6 leaves
    /// wrong blocks in animations.
    static func level(for quality: Int, isStill: Bool) -> Int {
        quality == 100 ? (isStill ? 0 : 1) : min(63, ((100 - quality) * 63 + 50) / 100 + 2)
    }

    /// Returns the level for encoders tuned for images with the same visual quality as `level` without tuning.
    static func tunedLevel(for level: Int) -> Int {
        for (low, high) in zip(tunedLevels, tunedLevels.dropFirst()) where level <= high.plain {
            let part = level - low.plain
            let steps = high.plain - low.plain
            return (low.tuned * (steps - part) + high.tuned * part + steps / 2) / steps
        }
        return level
    }

    /// Levels of libaom 3.6 and of libaom 3.12 tuned for images with equal SSIMULACRA2.
    private static let tunedLevels: [(plain: Int, tuned: Int)] = [
        (0, 0), (2, 4), (6, 10), (14, 18), (18, 21), (22, 23), (26, 26), (30, 31), (38, 38), (46, 47),
        (54, 56), (63, 63),
    ]
}
