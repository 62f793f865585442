/// The facts of a format on which plans and costs depend: a row of the format table.
///
/// `Imaging` has its codec. A class, so that reading one trait does not copy the others.
package final class FormatTraits: Sendable {
    let mediaType: String
    let fileExtension: String
    let supportsAlpha: Bool
    /// Whether animations are written with all their frames.
    let supportsAnimation: Bool
    /// Whether other services also keep animation frames in this format.
    let isCommonAnimation: Bool
    let maximumSide: Int
    let reading: Reading
    let output: Output

    init(
        mediaType: String, fileExtension: String, supportsAlpha: Bool, supportsAnimation: Bool,
        isCommonAnimation: Bool = false, maximumSide: Int, reading: Reading,
        output: Output
    ) {
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.supportsAlpha = supportsAlpha
        self.supportsAnimation = supportsAnimation
        self.isCommonAnimation = isCommonAnimation
        self.maximumSide = maximumSide
        self.reading = reading
        self.output = output
    }

    /// The output format when the result keeps the source's format.
    enum Output: Sendable {
        case written(Writing)
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits {
    package struct Reading: Sendable {
        package var reduction = Reduction.none
        /// Whether only confined worker processes decode this format, unless the operator allows otherwise.
        package var needsConfinement = false
        var isVector = false
        var hasPageHeaders = false
        var hasCMYK = false
        /// Whether planes may hold an image, rather than pixels.
        package var mayHavePlanes: @Sendable (ImageHeader) -> Bool = { _ in false }
        let memory: Memory
        let time: Time
    }

    /// How a loader produces a smaller image with less work.
    package enum Reduction: Sendable {
        /// No reduction: the image is decoded at full size, then reduced.
        case none
        /// A smaller inverse transform. Sides are rounded down.
        case transform
        /// A scaler after the decoder, for stills only. Sides are rounded half to even.
        ///
        /// Animation frames have offsets on their canvas, and would shift if each were scaled alone.
        case scaler
    }

    /// Memory that a decoder uses besides its rows and pixels.
    ///
    /// The factors are measured (`make bench-costs`).
    package struct Memory: Sendable {
        /// Bytes per pixel of a frame, by header and by whether it is decoded at full size.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether all frames need this memory at the same time.
        var isForEachFrame = false
        /// Bytes for each pixel of another frame that the decoder keeps for later ones.
        var frameBytes: @Sendable (_ header: ImageHeader) -> Int = { _ in 0 }
    }

    /// Decoding time in nanoseconds; see ``TimeCost``.
    package struct Time: Sendable {
        /// Per pixel of a decoded frame.
        let pixel: Double
        /// Per byte of the file.
        let byte: Double
        /// The minimum per pixel of a frame, however small the file.
        var leastPixel = 0.0
        /// Additional, per pixel of an animation frame, for compositing onto earlier frames.
        var animation = 0.0
        /// Whether alpha is coded separately and needs a second decode.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    package struct Writing: Sendable {
        let quality: QualityCurve?
        /// Whether a quality given with a format that has none limits the palette instead.
        var hasPaletteQuality = false
        let effort: Int
        /// Supported bits per component, the default first.
        var bitDepths = [8]
        /// Incremented when the encoder produces other bytes for the same pixels; part of the keys on disk.
        var version = 1
        /// Lowest quality at which chroma is not subsampled; nil if it always is.
        var fullChromaFrom: Int? = 90
        /// Whether a lower limit of pixels applies to results.
        var isSlow = false
        /// Whether encoding a still cannot be interrupted.
        var isUninterruptible = false
        /// Whether encoding an animation cannot be interrupted either.
        var isUninterruptibleAnimation = false
        /// Maximum number of pixels for which chroma is computed from full-color pixels instead of resampled planes,
        /// which lose more visual quality at small sizes.
        var maximumSharpPixels = 0
        /// File size in percent of a JPEG photograph of equal visual quality, from a number of pixels upward; empty if
        /// unknown.
        var photographBytes: [(pixels: Int, hundredths: Int)] = []
        var holdsEXIF = false
        var holdsGainMap = false
        /// Whether files can declare Display P3 colors.
        var holdsWideColors = true
        let memory: WritingMemory
        let time: WritingTime
    }

    /// Memory of rendering and encoding, in bytes.
    ///
    /// The factors are measured (`make bench-costs`).
    package struct WritingMemory: Sendable {
        /// Per pixel.
        let pixel: Int
        /// Additional, per pixel, if chroma is not subsampled.
        var fullChroma = 0
        /// Additional, per pixel, if the image may have transparent parts.
        var alpha = 0
        /// Additional, at any size, if a palette is computed.
        var palette = 0
        /// Additional, for an animation: per pixel of every frame, per pixel of one frame, and once.
        var animation = (frame: 0, pixel: 0, once: 0)
        /// Additional bytes at any size.
        var least = 1 << 20
    }

    /// Encoding time in nanoseconds, per pixel unless the name says otherwise; see ``TimeCost``.
    package struct WritingTime: Sendable {
        /// Per pixel of every image.
        let pixel: Double
        /// Additional, from quality 90 upward.
        var fine = 0.0
        /// Additional, if the image may have transparent parts.
        var alpha = 0.0
        /// Additional, for animation frames, which are compared with earlier ones.
        var animation = 0.0
        /// Additional, if a palette is computed.
        var palette = 0.0
        /// Additional, once per still.
        var once = 0.0
        /// Additional, once per still, if a palette is computed.
        var palettePerImage = 0.0

        /// Returns the total per pixel.
        func cost(isFine: Bool, hasAlpha: Bool, isAnimated: Bool, choosesPalette: Bool) -> Double {
            pixel + (isFine ? fine : 0) + (hasAlpha ? alpha : 0) + (isAnimated ? animation : 0)
                + (choosesPalette ? palette : 0)
        }

        /// Returns the total that does not depend on the size.
        func fixedCost(isAnimated: Bool, choosesPalette: Bool) -> Double {
            isAnimated ? 0 : once + (choosesPalette ? palettePerImage : 0)
        }
    }
}
