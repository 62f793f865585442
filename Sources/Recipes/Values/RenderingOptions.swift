package struct RenderingOptions: Hashable, Sendable {
    package var width: Int?
    package var height: Int?
    /// In thousandths, 500…8000.
    package var devicePixelRatio = 1_000
    package var fit = Fit.inside
    package var enlarge = false
    /// In pixels; the result is scaled down to it.
    package var maximumArea: Int?
    /// The number that both sides are multiples of, such as the patch size of a vision model.
    package var multiple: Int?
    package var gravity = Gravity.center
    /// In percent, for ``Gravity/face`` and ``Fit/cover``: 100 shows only the faces.
    package var faceZoom = 0
    package var operations = ImageOperations()
    package var background: Color?
    /// 1…100; nil for the default.
    package var quality: Int?
    package var qualityScale = QualityScale.visual
    package var isLossless = false
    package var isQualityAutomatic = false
    /// The limit of the file; lower qualities are tried until it fits.
    package var maximumBytes: Int?
    /// Bits per component of AVIF stills, 8 or 10; nil for the default.
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
    /// If the format supports it and no step changes colors or adds pixels.
    case keep

    /// The word in responses for what was done.
    package var done: String { self == .drop ? "dropped" : "kept" }
}

package enum Fit: String, Sendable, Hashable, CaseIterable {
    /// Keeps the aspect ratio.
    case inside
    /// Keeps the aspect ratio, nothing cropped.
    case outside
    /// The rest is cropped.
    case cover
    /// Exactly the box; the rest is background.
    case contain
    case fill
}

package enum Gravity: Sendable, Hashable {
    case center, top, topRight, right, bottomRight, bottom, bottomLeft, left, topLeft
    /// The most salient part, by libvips' measure.
    case attention
    case entropy
    /// The largest faces.
    case face
    case focal(x: Int, y: Int)
}

package struct WatermarkOptions: Hashable, Sendable {
    /// One of the nine positions of ``Gravity``.
    package var position = Gravity.bottomRight
    /// In CSS pixels: inward from an edge, to the right of the center.
    package var x = 0
    /// In CSS pixels: inward from an edge, down from the center.
    package var y = 0
    package var opacity = 100
    /// In ten-thousandths of the result's width, 100…10000; nil for its own size times the device pixel ratio.
    package var scale: Int?
    /// Whether it repeats to the right and down, from the top left corner plus the distances.
    package var isTiled = false

    package init() {}
}

package enum InterestMeasure: String, Sendable, Hashable, CaseIterable {
    case attention
    case entropy
}
