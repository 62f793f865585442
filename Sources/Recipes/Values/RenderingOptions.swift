package struct RenderingOptions: Hashable, Sendable {
    package var width: Int?
    package var height: Int?
    /// Device pixels per CSS pixel in thousandths, 500…8000.
    package var devicePixelRatio = 1_000
    package var fit = Fit.inside
    package var enlarge = false
    /// The maximum pixels of the result, which is scaled down.
    package var maximumArea: Int?
    /// The number that both sides are multiples of, such as the patch size of a vision model.
    package var multiple: Int?
    package var gravity = Gravity.center
    /// Zoom in percent for ``Gravity/face`` and ``Fit/cover``; 100 shows only the faces.
    package var faceZoom = 0
    package var operations = ImageOperations()
    package var background: Color?
    /// The quality, 1…100; nil uses the default.
    package var quality: Int?
    package var qualityScale = QualityScale.visual
    package var isLossless = false
    package var isQualityAutomatic = false
    /// Maximum bytes of the file; lower qualities are tried until it fits.
    package var maximumBytes: Int?
    /// Bits per component of AVIF stills, 8 or 10; nil uses the default.
    package var avifBitDepth: Int?
    package var gamut: Gamut?
    package var keepsCopyright = false
    package var keptMetadata: KeptMetadata?
    package var gainMap = GainMapUse.drop
    package var page = 0
    package var isAnimated = false
    package var watermark: WatermarkOptions?
    package var format = FormatChoice.negotiated([:])

    package init() {}
}

package enum GainMapUse: String, Sendable, Hashable, CaseIterable {
    case drop
    /// Keeps the gain map if the format supports it and no step changes colors or adds pixels.
    case keep

    /// The word in responses.
    package var done: String { self == .drop ? "dropped" : "kept" }
}

package enum Fit: String, Sendable, Hashable, CaseIterable {
    /// Keeps the aspect ratio and fits into the box.
    case inside
    /// Keeps the aspect ratio and covers the box without a crop.
    case outside
    /// Covers the box and crops the rest.
    case cover
    /// Fits into the box and fills the rest with the background.
    case contain
    case fill
}

package struct WatermarkOptions: Hashable, Sendable {
    /// One of the nine positions of ``Gravity``.
    package var position = Gravity.bottomRight
    /// CSS pixels inward from an edge, or to the right of the center.
    package var x = 0
    /// CSS pixels inward from an edge, or down from the center.
    package var y = 0
    package var opacity = 100
    /// The width in ten-thousandths of the result's, 100…10000; nil uses the natural size times the device pixel ratio.
    package var scale: Int?
    /// Whether the watermark repeats to the right and down, starting at the top left corner plus the offsets.
    package var isTiled = false

    package init() {}
}

package enum InterestMeasure: String, Sendable, Hashable, CaseIterable {
    case attention
    case entropy
}
