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
    /// Longest time of one core that the steps of a render may be priced at.
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
