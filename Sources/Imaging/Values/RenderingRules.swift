/// The choices of an operator that are the same for all requests and decide pixels, bytes and refusals.
package struct RenderingRules: Hashable, Sendable {
    /// Bounds on sources and results.
    package var limits = ImagingLimits()
    /// The amounts that resampling averages.
    package var light = ResamplingLight.gamma
    /// The colors of results whose request does not say it.
    package var gamut = Gamut.srgb
    /// How much time encoders spend to make files small.
    package var efforts = EncoderEfforts()
    /// The goal of an automatic quality.
    package var similarity = SimilarityGoal()
    /// The formats that may be chosen by `Accept`; among those whose files are equally large, the first one is.
    package var automaticFormats: [ImageFormat] = [.webp]
    /// The highest quality of results whose request names none; nil for no such bound.
    package var defaultQualityLimit: Int?

    /// The defaults, but for the limits.
    package init(limits: ImagingLimits = ImagingLimits()) { self.limits = limits }

    /// The quality of a request that names none: `quality`, which is that of its grammar, within the limit.
    package func defaultQuality(_ quality: Int) -> Int { min(quality, defaultQualityLimit ?? quality) }
}

/// Limits that are checked before work on an image starts.
package struct ImagingLimits: Sendable, Hashable {
    /// Most pixels that may be decoded, all frames together.
    package var maximumSourcePixels = 100_000_000
    /// Most pixels of a result, all frames together.
    package var maximumOutputPixels = 25_000_000
    /// Most pixels of a frame in a format that is slow to encode.
    package var maximumOutputPixelsSlow = 6_000_000
    /// Most frames of an animation that are kept; later ones are dropped.
    package var maximumFrames = 256
    /// Longest time of one core that the steps of a render, and the decode of a frame in the middle, may be priced at.
    package var longestSteps = Duration.seconds(8)
    /// Whether images that lack pixels are refused or served.
    package var incompleteImages = IncompleteImages.refuse
    /// The formats that may be decoded.
    package var sourceFormats = Set(ImageFormat.trusted)

    /// The defaults of the contract.
    package init() {}

    /// Most pixels of one frame in this format.
    package func maximumFramePixels(of format: ImageFormat) -> Int {
        format.isSlow ? min(maximumOutputPixels, maximumOutputPixelsSlow) : maximumOutputPixels
    }

    /// Whether a file of this format can hold a frame of this size.
    package func allow(_ size: PixelSize, in format: ImageFormat) -> Bool {
        max(size.width, size.height) <= format.maximumSide && size.area <= maximumFramePixels(of: format)
    }

    /// Most pixels that may be made of a source: an image of shapes has none of its own, and counts like a result.
    package func maximumPixels(of header: ImageHeader) -> Int {
        header.drawing == nil ? maximumSourcePixels : maximumOutputPixels
    }

    /// No limits at all, for worker processes: the serving process has checked the header.
    package static var none: ImagingLimits {
        var limits = ImagingLimits()
        (limits.maximumSourcePixels, limits.maximumOutputPixels, limits.maximumFrames) = (.max, .max, .max)
        (limits.maximumOutputPixelsSlow, limits.longestSteps) = (.max, .seconds(Int64.max))
        limits.sourceFormats = Set(ImageFormat.allCases)
        return limits
    }
}

/// How much time the encoders spend to make files small, chosen by the operator.
package struct EncoderEfforts: Hashable, Sendable {
    private var chosen: [ImageFormat: Int] = [:]

    /// The defaults of all formats.
    package init() {}

    /// The effort for `format`, in the encoder's own scale.
    package subscript(format: ImageFormat) -> Int {
        get { chosen[format] ?? format.effort }
        set { chosen[format] = newValue }
    }
}

/// The scans of JPEG answers, with the efforts of the encoder that stand for them.
package enum JPEGScanChoice: Int, Sendable, CaseIterable {
    case one = 1
    /// Several if the file is so large that they save bytes, else one.
    case bySize
    case several
}

/// The meaning of samples while resampling averages them.
package enum ResamplingLight: String, Sendable, Hashable, CaseIterable {
    /// The components as stored, by sRGB's curve: what most services do. Fine bright detail becomes too dark.
    case gamma
    /// The light that the components stand for, as an eye sees it from a distance.
    case linear
}
