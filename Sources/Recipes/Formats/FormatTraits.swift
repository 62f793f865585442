/// Properties of a format that plans and costs use; the codec is in `Imaging`.
///
/// A class, so that reading one property does not copy the others.
package final class FormatTraits: Sendable {
    let mediaType: String
    let fileExtension: String
    let supportsAlpha: Bool
    /// Whether results can be animations.
    let supportsAnimation: Bool
    /// Whether other services keep animations in this format, too.
    let isCommonAnimation: Bool
    let maximumSide: Int
    let reading: Reading
    let output: Output

    init(
        mediaType: String, fileExtension: String, supportsAlpha: Bool, supportsAnimation: Bool,
        isCommonAnimation: Bool = false, maximumSide: Int, reading: Reading, output: Output
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

    enum Output: Sendable {
        case written(Writing)
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits {
    package struct Reading: Sendable {
        package var reduction = Reduction.none
        /// Whether only worker processes may decode it, unless the operator allows otherwise.
        package var needsConfinement = false
        var isVector = false
        var hasPageHeaders = false
        /// Whether an embedded preview in another format is decoded instead.
        var hasPreview = false
        var hasCMYK = false
        /// Maximum bytes of ranges to fetch for facts; if these do not suffice, the whole file is fetched.
        package var maximumHeaderBytes = defaultHeaderBytes
        package static let defaultHeaderBytes = 128 << 10
        package var mayHavePlanes: @Sendable (ImageHeader) -> Bool = { _ in false }
        let memory: Memory
        let time: Time
    }

    package enum Reduction: Sendable {
        /// Decodes at full size, then reduces.
        case none
        /// Uses a smaller inverse transform; sides are rounded down.
        case transform
        /// Scales after the decoder, stills only: frames of an animation have offsets and would shift.
        ///
        /// Sides are rounded half to even.
        case scaler
    }

    /// Memory besides rows and pixels; the factors are measured (`make bench-costs`).
    package struct Memory: Sendable {
        /// Bytes per pixel of a frame.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether all frames need this memory at the same time.
        var isForEachFrame = false
        /// Bytes per pixel of each other frame that the decoder keeps.
        var frameBytes: @Sendable (_ header: ImageHeader) -> Int = { _ in 0 }
    }

    package struct Time: Sendable {
        let pixel: Double
        let byte: Double
        /// The minimum per pixel of a frame, for very small files.
        var minimumPixel = 0.0
        /// Time per pixel of an animation's frame that is composed onto earlier ones.
        var animation = 0.0
        /// Whether alpha requires a second decode.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    package struct Writing: Sendable {
        let quality: QualityCurve?
        var hasPaletteQuality = false
        let effort: Int
        /// Supported bits per component, the default first.
        var bitDepths = [8]
        /// Part of the keys on disk; increment it when the encoder produces different bytes for the same pixels.
        var version = 1
        /// The lowest quality without chroma subsampling; nil if chroma is always subsampled.
        var fullChromaFrom: Int? = 90
        var isSlow = false
        var isUninterruptible = false
        /// Whether the encoding of animations cannot be interrupted.
        var isUninterruptibleAnimation = false
        /// The area up to which chroma is resampled at full size before it is subsampled.
        ///
        /// This keeps edges between colors sharp. In larger images, planes are resampled directly to their final size.
        var maximumSharpPixels = 0
        /// File size in percent of a JPEG of equal visual quality, by minimum number of pixels; empty if unknown.
        var photographBytes: [(pixels: Int, hundredths: Int)] = []
        var holdsEXIF = false
        /// Whether files with rights in XMP repeat them in EXIF, for readers without XMP.
        var holdsRightsAsEXIF = false
        var holdsPacket = true
        var holdsGainMap = false
        /// Nanoseconds per pixel of lossless encoding; nil if the format has only one mode.
        var losslessTime: Double?
        /// Whether files can declare Display P3 colors.
        var holdsWideColors = true
        let memory: WritingMemory
        let time: WritingTime
    }

    /// Encoder memory in bytes; the factors are measured (`make bench-costs`).
    package struct WritingMemory: Sendable {
        let pixel: Int
        /// Per pixel.
        var fullChroma = 0
        /// Per pixel.
        var alpha = 0
        /// Independent of the size.
        var palette = 0
        /// Per pixel of all frames, per pixel of one frame, and once.
        var animation = (frame: 0, pixel: 0, once: 0)
        /// In addition for lossless results: per pixel, and once.
        var lossless = (pixel: 0, once: 0)
        /// Independent of the size.
        var minimum = 1 << 20
    }

    /// Encoder time in nanoseconds, per pixel unless stated otherwise; see ``TimeCost``.
    package struct WritingTime: Sendable {
        /// For every image.
        let pixel: Double
        /// In addition from quality 90 upward.
        var fine = 0.0
        /// In addition for images with alpha.
        var alpha = 0.0
        var animation = 0.0
        /// In addition if a palette is computed.
        var palette = 0.0
        /// In addition, once per still.
        var once = 0.0
        /// In addition, once per still, if a palette is computed.
        var palettePerImage = 0.0

        /// Per pixel.
        func cost(isFine: Bool, hasAlpha: Bool, isAnimated: Bool, choosesPalette: Bool) -> Double {
            pixel + (isFine ? fine : 0) + (hasAlpha ? alpha : 0) + (isAnimated ? animation : 0)
                + (choosesPalette ? palette : 0)
        }

        /// Independent of the size.
        func fixedCost(isAnimated: Bool, choosesPalette: Bool) -> Double {
            isAnimated ? 0 : once + (choosesPalette ? palettePerImage : 0)
        }
    }
}
