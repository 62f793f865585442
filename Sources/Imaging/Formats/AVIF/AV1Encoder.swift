import CAOMShim
import Memory
import Recipes

/// An AV1 encoder (libaom), which cannot be interrupted within a frame.
@safe
final class AV1Encoder {
    /// The contents of the `av1C` box (AV1 Codec ISO Media File Format Binding, section 2.3), after a frame.
    private(set) var configuration: [UInt8] = []
    let size: PixelSize
    let isGray: Bool
    let isDisplayP3: Bool
    let bits: Int
    private let raw: OpaquePointer
    private var text = [CChar](repeating: 0, count: Int(CAOMShim_text_size))

    struct Frame {
        let data: [UInt8]
        let isKey: Bool
    }

    /// Animations have 8 bits: in real-time mode, libaom 3.6 leaves remnants of earlier frames in 10-bit frames.
    init(_ size: PixelSize, isGray: Bool, frames: Int, settings: EncoderSettings) throws(ImagingError) {
        let effort = AVIFEffort(effort: settings.effort)
        bits = frames == 1 ? settings.bitDepth : 8
        let isTuned = frames == 1 && CAOMShim_has_image_tuning() != 0
        let plainLevel = AVIFEffort.level(for: settings.quality, isStill: frames == 1)
        let level = isTuned ? AVIFEffort.tunedLevel(for: plainLevel) : plainLevel
        let matrices = AVIFEffort.matrices(level: frames == 1 ? level : 0, isTuned: isTuned)
        var shimSettings = CAOMShimSettings(
            width: Int32(size.width), height: Int32(size.height), is_gray: isGray ? 1 : 0,
            bits: Int32(bits), frames: Int32(frames), speed: Int32(effort.speed(isStill: frames == 1)),
            level: Int32(level), coarsest_matrix: Int32(matrices.lowerBound),
            finest_matrix: Int32(matrices.upperBound), has_cosines_alone: effort.hasCosinesAlone ? 1 : 0)
        guard let raw = unsafe CAOMShim_open(&shimSettings, &text) else {
            throw .encodeFailed(detail: String(cText: text))
        }
        unsafe self.raw = raw
        self.size = size
        self.isGray = isGray
        isDisplayP3 = settings.isDisplayP3
    }

    deinit { unsafe CAOMShim_close(raw) }

    /// Encodes a plane in full range.
    ///
    /// - Parameter step: Bytes from one sample to the next.
    @unsafe
    func set(plane: Int, samples: UnsafePointer<UInt8>?, stride: Int, step: Int = 1) {
        unsafe CAOMShim_set_plane(raw, Int32(plane), samples, stride, step)
    }

    /// Encodes pixels of three or four bands; ignores alpha.
    @unsafe
    func set(colors pixels: UnsafePointer<UInt8>?, bands: Int) { unsafe CAOMShim_set_colors(raw, pixels, Int32(bands)) }

    func frame() throws(ImagingError) -> Frame {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        var isKey = Int32(0)
        guard unsafe CAOMShim_encode(raw, &bytes, &count, &isKey, &text) == 0 else {
            throw .encodeFailed(detail: String(cText: text))
        }
        var data = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
        // Files have no temporal delimiters.
        if data.starts(with: [0x12, 0]) { data.removeFirst(2) }
        if configuration.isEmpty {
            guard let codecConfiguration = configuration(by: data) else {
                throw .encodeFailed(detail: "libaom begins without a sequence header")
            }
            configuration = codecConfiguration
        }
        return Frame(data: data, isKey: isKey != 0)
    }

    /// Returns the `av1C` contents; nil if the data do not begin with a sequence header (AV1 section 5.5).
    private func configuration(by data: [UInt8]) -> [UInt8]? {
        // OBU type 1 with a size field below 128.
        guard data.count > 6, data[0] == 0x0A, data[1] < 128 else { return nil }
        let start = data[2...6].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        func bits(_ count: UInt64, at position: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: start >> (40 - position - count) & (1 << count - 1))
        }
        let isReduced = bits(1, at: 4) == 1
        // Timing information and several operating points would precede the level.
        guard isReduced || bits(1, at: 5) == 0 && bits(5, at: 7) == 0 else { return nil }
        let level = bits(5, at: isReduced ? 5 : 24)
        let isHighTier = !isReduced && level > 7 && bits(1, at: 29) == 1
        let flags = (isHighTier ? 0x80 : 0) | (self.bits > 8 ? 0x40 : 0) | (isGray ? 0x1C : 0)
        return [0x81, bits(3, at: 0) << 5 | level, UInt8(flags), 0]
    }
}

/// libaom's settings for an effort and a quality, chosen by measurement (docs/measurements/avif.md).
struct AVIFEffort {
    let effort: Int

    /// Returns the speed, 0…9; lower speeds take longer, and animations are encoded in real-time mode.
    func speed(isStill: Bool) -> Int {
        let speeds = isStill ? Self.stillSpeeds : Self.liveSpeeds
        return speeds[min(effort, speeds.count - 1)]
    }

    /// Omits speeds 7 and 1: their files are no smaller than the files of speeds 8 and 2.
    private static let stillSpeeds = [9, 8, 6, 5, 4, 3, 2, 0]
    /// Real-time speeds begin at 5; at 7, libaom 3.6 crashes on images without chroma.
    private static let liveSpeeds = [9, 8, 6, 5]

    /// Returns the range of quantization matrices, within 0…15; lower ones are coarser in fine detail.
    ///
    /// From level 30 upward, coarser matrices reduce file sizes at the same visual quality.
    static func matrices(level: Int, isTuned: Bool = false) -> ClosedRange<Int> {
        level < 30 && !isTuned ? 4...12 : 2...10
    }

    /// Smaller files at the fastest speeds, which try few transforms.
    var hasCosinesAlone: Bool { effort < 2 }

    /// Returns the quantizer level for a quality, from 0 (lossless) to 63.
    ///
    /// Levels are distributed as in libheif, with an offset for our better settings. At level 0, libaom 3.6 leaves
    /// wrong blocks in animations.
    static func level(for quality: Int, isStill: Bool) -> Int {
        quality == 100 ? (isStill ? 0 : 1) : min(63, ((100 - quality) * 63 + 50) / 100 + 2)
    }

    /// Returns the level for encoders tuned for images with the same visual quality as `level` without tuning.
    static func tunedLevel(for level: Int) -> Int {
        for (low, high) in zip(tunedLevels, tunedLevels.dropFirst()) where level <= high.plain {
            let above = level - low.plain
            let distance = high.plain - low.plain
            return (low.tuned * (distance - above) + high.tuned * above + distance / 2) / distance
        }
        return level
    }

    /// Levels of libaom 3.6 and of libaom 3.12 tuned for images with equal SSIMULACRA2.
    private static let tunedLevels: [(plain: Int, tuned: Int)] = [
        (0, 0), (2, 4), (6, 10), (14, 18), (18, 21), (22, 23), (26, 26), (30, 31), (38, 38), (46, 47),
        (54, 56), (63, 63),
    ]
}
