/// What Imaging refuses before it starts to work on a picture.
package struct ImagingLimits: Sendable, Hashable {
    /// Most pixels that may be decoded, all frames together.
    package var maximumSourcePixels = 100_000_000
    /// Most pixels of a result, all frames together.
    package var maximumOutputPixels = 50_000_000
    /// Most frames of an animation that is kept as one.
    package var maximumFrames = 64
    /// The formats that may be decoded.
    package var sourceFormats: Set<ImageFormat> = [.jpeg, .png, .webp, .gif]

    /// The defaults of the contract.
    package init() {}

    /// No limits at all: for whoever decodes what somebody else has judged.
    package static var none: ImagingLimits {
        var limits = ImagingLimits()
        (limits.maximumSourcePixels, limits.maximumOutputPixels, limits.maximumFrames) = (.max, .max, .max)
        limits.sourceFormats = Set(ImageFormat.allCases)
        return limits
    }
}
