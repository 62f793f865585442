/// A request's options for a source image, in the request's units, independent of the source.
package struct RenderingOptions: Hashable, Sendable {
    /// Width of the box in CSS pixels, 1…16384.
    package var width: Int?
    /// Height of the box in CSS pixels, 1…16384.
    package var height: Int?
    /// Device pixels per CSS pixel in thousandths: 1000 is 1, 500…8000.
    package var devicePixelRatio = 1_000
    package var fit = Fit.inside
    package var enlarge = false
    /// The part that a crop keeps, and the position of the image on a larger canvas.
    package var gravity = Gravity.center
    package var operations = ImageOperations()
    /// Color behind transparent parts and around the image; nil for the format's default.
    package var background: Color?
    /// The quality, 1…100; nil for the default.
    package var quality: Int?
    package var qualityScale = QualityScale.visual
    /// Whether to search for the lowest quality at which the file still looks like the image; ``quality`` is nil then.
    package var isQualityAutomatic = false
    /// Maximum size of the file in bytes; lower qualities are tried until it fits.
    package var maximumBytes: Int?
    /// Bits per component of AVIF stills, 8 or 10; nil for the default.
    package var avifBitDepth: Int?
    package var gamut: Gamut?
    /// Whether results include the source's artist and copyright, if their format supports it.
    package var keepsCopyright = false
    package var gainMap = GainMapUse.drop
    package var page = 0
    /// Whether all frames are kept, if both formats support animations.
    package var isAnimated = false
    package var watermark: WatermarkOptions?
    package var format = FormatChoice.negotiated([:])

    package init() {}
}

package enum GainMapUse: String, Sendable, Hashable, CaseIterable {
    /// The result is the image without it.
    case drop
    /// The result has it after the same steps, if its format supports it and no step changes colors or adds pixels.
    case keep

    /// The word in responses for what was done.
    package var done: String { self == .drop ? "dropped" : "kept" }
}

package enum Fit: String, Sendable, Hashable, CaseIterable {
    /// The largest size that fits into the box; keeps the aspect ratio.
    case inside
    /// The smallest size that covers the box; keeps the aspect ratio, nothing cropped.
    case outside
    /// Covers the box; the rest is cropped.
    case cover
    /// Exactly the box: the image inside it, the rest background.
    case contain
    /// Exactly the box; changes the aspect ratio.
    case fill
}

package enum Gravity: Sendable, Hashable {
    case center, top, topRight, right, bottomRight, bottom, bottomLeft, left, topLeft
    /// The most salient part, by libvips' measure.
    case attention
    /// The part with the most information.
    case entropy
    /// A point of the image in thousandths of its width and height, 0…1000.
    case focal(x: Int, y: Int)
}

package struct WatermarkOptions: Hashable, Sendable {
    /// The position on the result: one of the nine positions of ``Gravity``.
    package var position = Gravity.bottomRight
    /// Distance from that position in CSS pixels: inward from an edge, to the right of the center.
    package var x = 0
    /// Distance from that position in CSS pixels: inward from an edge, down from the center.
    package var y = 0
    /// Opacity in percent, 1…100.
    package var opacity = 100
    /// The watermark's width in ten-thousandths of the result's, 100…10000; nil for its own size times the device pixel
    /// ratio.
    package var scale: Int?
    /// Whether it is repeated to the right and down, from the top left corner plus the distances.
    package var isTiled = false

    package init() {}
}

package enum InterestMeasure: String, Sendable, Hashable, CaseIterable {
    /// By saliency: edges, skin colors and saturated colors.
    case attention
    /// By the amount of information.
    case entropy
}
