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
    let isWide: Bool
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
        isWide = settings.isWide
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
        func bits(_ count: UInt64, at place: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: start >> (40 - place - count) & (1 << count - 1))
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
