package struct RenderingRules: Hashable, Sendable {
    package var limits = ImagingLimits()
    package var light = ResamplingLight.gamma
    package var gamut = Gamut.srgb
    package var keptMetadata = KeptMetadata.ai
    /// Whether face detection is available; if not, recipes crop by attention.
    package var findsFaces = false
    package var efforts = EncoderEfforts()
    package var similarity = SimilarityGoal()
    /// The formats that `Accept` may select; the first wins among equally small files.
    package var automaticFormats: [ImageFormat] = [.webp]
    /// The maximum quality of requests that name none.
    package var defaultQualityLimit: Int?

    package init(limits: ImagingLimits = ImagingLimits()) { self.limits = limits }

    package func defaultQuality(_ quality: Int) -> Int { min(quality, defaultQualityLimit ?? quality) }
}

package struct ImagingLimits: Sendable, Hashable {
    package var maximumSourcePixels = 100_000_000
    package var maximumOutputPixels = 25_000_000
    package var maximumOutputPixelsSlow = 6_000_000
    /// The maximum number of frames; later ones are dropped.
    package var maximumFrames = 256
    /// The maximum estimated core time of a render's steps, and of decoding a frame inside an animation.
    package var longestSteps = Duration.seconds(8)
    package var incompleteImages = IncompleteImages.reject
    /// Whether to end a decode that takes far more CPU time than estimated, so that it is repeated as expensive work.
    package var endsUnderestimatedDecodes = false
    package var sourceFormats = Set(ImageFormat.trusted)

    package init() {}

    package func maximumFramePixels(of format: ImageFormat, isLossless: Bool = false) -> Int {
        format.isSlow || isLossless && format.isLosslessByChoice
            ? min(maximumOutputPixels, maximumOutputPixelsSlow) : maximumOutputPixels
    }

    package func allow(_ size: PixelSize, in format: ImageFormat, isLossless: Bool = false) -> Bool {
        max(size.width, size.height) <= format.maximumSide
            && size.area <= maximumFramePixels(of: format, isLossless: isLossless)
    }

    package func maximumPixels(of header: ImageHeader) -> Int {
        header.vectorSize == nil ? maximumSourcePixels : maximumOutputPixels
    }

    /// No limits; used in worker processes, because the serving process has checked the header.
    package static var none: ImagingLimits {
        var limits = ImagingLimits()
        limits.maximumSourcePixels = .max
        limits.maximumOutputPixels = .max
        limits.maximumFrames = .max
        limits.maximumOutputPixelsSlow = .max
        limits.longestSteps = .seconds(Int64.max)
        limits.sourceFormats = Set(ImageFormat.allCases)
        return limits
    }
}

package struct EncoderEfforts: Hashable, Sendable {
    private var chosen: [ImageFormat: Int] = [:]

    package init() {}

    package subscript(format: ImageFormat) -> Int {
        get { chosen[format] ?? format.effort }
        set { chosen[format] = newValue }
    }
}

package enum JPEGScanChoice: Int, Sendable, CaseIterable {
    case one = 1
    case bySize
    case several
}

package enum ResamplingLight: String, Sendable, Hashable, CaseIterable {
    /// Gamma-encoded values, as in most services; fine bright detail becomes too dark.
    case gamma
    /// Linear light, as the eye mixes it from a distance.
    case linear
}
