/// The row of a format on which plans and costs depend; `Imaging` has its codec.
///
/// A class, so that reading one trait does not copy the others.
package final class FormatTraits: Sendable {
    let mediaType: String
    let fileExtension: String
    let supportsAlpha: Bool
    /// Whether animations are written with all their frames.
    let supportsAnimation: Bool
    /// Other services also keep animations in this format.
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

    enum Output: Sendable {
        case written(Writing)
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits {
    package struct Reading: Sendable {
        package var reduction = Reduction.none
        /// Whether only worker processes decode it, unless the operator allows otherwise.
        package var needsConfinement = false
        var isVector = false
        var hasPageHeaders = false
        /// Whether an embedded file of another format is decoded instead.
        var hasPreview = false
        var hasCMYK = false
        /// The limit of fetched ranges that may contain an image's facts; beyond it, the whole file is fetched.
        package var maximumHeaderBytes = usualHeaderBytes
        package static let usualHeaderBytes = 128 << 10
        package var mayHavePlanes: @Sendable (ImageHeader) -> Bool = { _ in false }
        let memory: Memory
        let time: Time
    }

    package enum Reduction: Sendable {
        /// The image is decoded at full size, then reduced.
        case none
        /// A smaller inverse transform. Sides are rounded down.
        case transform
        /// A scaler after the decoder, for stills only: frames of an animation have offsets, and would shift if each
        /// were scaled alone. Sides are rounded half to even.
        case scaler
    }

    /// Memory besides rows and pixels; the factors are measured (`make bench-costs`).
    package struct Memory: Sendable {
        /// Bytes for each pixel of a frame.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether all frames need this memory at the same time.
        var isForEachFrame = false
        /// Bytes for each pixel of another frame that the decoder keeps.
        var frameBytes: @Sendable (_ header: ImageHeader) -> Int = { _ in 0 }
    }

    package struct Time: Sendable {
        let pixel: Double
        let byte: Double
        /// The minimum per pixel of a frame, however small the file.
        var minimumPixel = 0.0
        /// The time for each pixel of an animation's frame that is composed onto earlier ones.
        var animation = 0.0
        /// Whether alpha takes a second decode.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    package struct Writing: Sendable {
        let quality: QualityCurve?
        var hasPaletteQuality = false
        let effort: Int
        /// The bits per component, the default first.
        var bitDepths = [8]
        /// Incremented when the encoder produces other bytes for the same pixels; part of the keys on disk.
        var version = 1
        /// Lowest quality at which chroma is not subsampled; nil if it always is.
        var fullChromaFrom: Int? = 90
        var isSlow = false
        var isUninterruptible = false
        /// Whether encoding an animation cannot be interrupted either.
        var isUninterruptibleAnimation = false
        /// The area up to which subsampled chroma is computed from resampled chroma of full size, so that edges between
        /// colors stay sharp; other planes are resampled to their size.
        var maximumSharpPixels = 0
        /// The size in percent of a JPEG of equal visual quality, from a number of pixels upward; empty if unknown.
        var photographBytes: [(pixels: Int, hundredths: Int)] = []
        var holdsEXIF = false
        /// Whether files with rights in XMP repeat them in EXIF, for readers of only that.
        var holdsRightsAsEXIF = false
        var holdsPacket = true
        var holdsGainMap = false
        /// The nanoseconds per pixel if nothing is lost on request; nil if that is impossible, or always so.
        var losslessTime: Double?
        /// Whether files can declare Display P3 colors.
        var holdsWideColors = true
        let memory: WritingMemory
        let time: WritingTime
    }

    /// In bytes; the factors are measured (`make bench-costs`).
    package struct WritingMemory: Sendable {
        let pixel: Int
        /// Per pixel.
        var fullChroma = 0
        /// Per pixel.
        var alpha = 0
        /// Independent of the size.
        var palette = 0
        /// Per pixel of every frame, per pixel of one frame, and once.
        var animation = (frame: 0, pixel: 0, once: 0)
        /// Additional, if nothing is lost: per pixel, and once.
        var lossless = (pixel: 0, once: 0)
        /// Independent of the size.
        var minimum = 1 << 20
    }

    /// In nanoseconds, per pixel unless the name says otherwise; see ``TimeCost``.
    package struct WritingTime: Sendable {
        /// Per pixel of every image.
        let pixel: Double
        /// Applies from quality 90 upward.
        var fine = 0.0
        /// Additional, if the image may have transparent parts.
        var alpha = 0.0
        var animation = 0.0
        /// Additional, if a palette is computed.
        var palette = 0.0
        /// Additional, once per still.
        var once = 0.0
        /// Additional, once per still, if a palette is computed.
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
