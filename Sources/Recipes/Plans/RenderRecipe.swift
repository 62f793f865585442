/// Converts the options of a dialect to steps when the header of the source is known.
///
/// No other code knows the dialect. The same recipe must return the same draft for the same source, because
/// results are cached by the plan.
package protocol RenderRecipe: Hashable, Sendable {
    /// Returns the draft; called again after a trim, with the remaining box.
    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft

    /// The recipe's part of a key while the border is unknown: everything that determines the second draft.
    var keyText: String { get }

    /// The native options; nil for other services' recipes.
    var nativeOptions: RenderingOptions? { get }
}

extension RenderRecipe {
    package var nativeOptions: RenderingOptions? { nil }
}

package struct RecipeSource: Hashable, Sendable {
    package let header: ImageHeader
    /// The box inside the border, in pixels of the upright page; nil before or without a trim.
    package internal(set) var box: ImagePart?
    package let additions: [ImageHeader]
    package let rules: RenderingRules
    /// Formats that a recipe must not choose by itself; a format that the request names is kept, and fails.
    package internal(set) var unsupportedFormats: Set<ImageFormat> = []

    package init(
        header: ImageHeader, box: ImagePart? = nil, additions: [ImageHeader] = [],
        rules: RenderingRules = RenderingRules()
    ) {
        self.header = header
        self.box = box
        self.additions = additions
        self.rules = rules
    }

    package var limits: ImagingLimits { rules.limits }

    /// The first format that can represent the result; otherwise PNG, or JPEG for an opaque still.
    ///
    /// - Parameter isMoving: Whether the result keeps several frames, if its format supports them.
    package func firstSupported(of formats: [ImageFormat], hasAlpha: Bool, isMoving: Bool = false) -> ImageFormat {
        .first(of: formats, excluding: unsupportedFormats, hasAlpha: hasAlpha, isMoving: isMoving)
    }

    package func with(box: ImagePart?) -> RecipeSource {
        var source = self
        source.box = box
        return source
    }

    package func whole(ofPage page: Int = 0) -> ImagePart { box ?? ImagePart(allOf: header.page(page).size) }
}

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
    package var part: ImagePart?
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

package struct RecipeAddition: Sendable {
    private(set) var level = 1
    private(set) var drawnSize: PixelSize?
    private(set) var drawnPart: DrawnPart?
    package let decoded: FrameShape

    /// - Parameter isSizeFinal: False in both drafts of a trimmed image: its size is unknown when the decode is
    ///   planned.
    package init(_ header: ImageHeader, scaledTo size: PixelSize, isSizeFinal: Bool = true) {
        level = isSizeFinal && header.drawing == nil ? Self.level(of: header.size, for: size) : 1
        decoded = header.shape.reduced(by: level)
    }

    init(_ header: ImageHeader, drawnIn size: PixelSize, part: DrawnPart?) {
        drawnSize = size
        drawnPart = part
        decoded = FrameShape(size: size, hasAlpha: header.hasAlpha)
    }

    /// The largest level that leaves at least twice the length of `scaled` on each side.
    private static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}

package struct AnyRenderRecipe: Sendable {
    package let recipe: any RenderRecipe

    package init(_ recipe: some RenderRecipe) { self.recipe = recipe }
}

extension AnyRenderRecipe: Hashable {
    package static func == (one: Self, other: Self) -> Bool {
        func isSame<Recipe: RenderRecipe>(_ recipe: Recipe) -> Bool { recipe == other.recipe as? Recipe }
        return isSame(one.recipe)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}
