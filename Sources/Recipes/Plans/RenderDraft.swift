/// The render that a recipe drafts for a source; ``RenderPlan`` completes it and checks it against the limits.
package struct RenderDraft: Sendable {
    /// The page number; the first is 0.
    package var page = 0
    /// The maximum number of frames; 1 for a still.
    package var frames = 1
    /// Whether a format without animations stacks all frames vertically instead of showing the first.
    package var stacksFrames = false
    package var timing: FrameTiming?
    package var trim: ImageOperations.Trim?
    /// Whether to reserve memory for a result that is larger than without the trim.
    package var mayGrowByTrim = true
    package var region: ImageRegion?
    package var turn = QuarterTurn.none
    package var size: PixelSize
    var decidingSides: [RenderLayout.Side]?
    package var crop: CropStep?
    package var light = ResamplingLight.gamma
    package var steps: RenderSteps = []
    /// The additions in the order of ``RecipeSource/additions``; nil for an unused one.
    package var additions: [RecipeAddition?] = []
    package var format: ImageFormat
    package var quality: EncodingQuality
    package var qualityScale = QualityScale.encoder
    var paletteQuality: Int?
    /// Whether the result is lossless, if the format supports it; the quality is then ignored.
    package var isLossless = false
    package var bitDepth: Int?
    package var gamut: Gamut?
    /// Whether to keep the copyright, if the format supports it.
    package var keepsCopyright = false
    /// The metadata to keep, if the format supports it; nil uses the rules' default.
    package var keptMetadata: KeptMetadata?
    /// Whether to keep the gain map, if the format supports it and no step changes colors or adds pixels.
    package var keepsGainMap = false
    package var isDataURL = false

    package init(size: PixelSize, format: ImageFormat, quality: EncodingQuality) {
        self.size = size
        self.format = format
        self.quality = quality
    }
}
