/// Rules that convert the options of a URL dialect to steps, once the header of the source is known.
///
/// Sizes, their rounding, the order of the steps and the format of the result differ between dialects. A recipe
/// contains the options as its dialect defines them and resolves all of them at once, so that no other code knows the
/// dialect. The same recipe must yield the same composition for the same source: results are cached by the resulting
/// plan.
package protocol RenderRecipe: Hashable, Sendable {
    /// Returns how to render the result from `source`.
    ///
    /// Called a second time if the composition trims: with the remaining box, from which parts and sizes are then
    /// computed.
    func composition(of source: RecipeSource) throws(ImagingError) -> Composition

    /// The recipe's text in the key of a result whose border is not known yet: everything that determines the second
    /// composition.
    var keyText: String { get }

    /// The recipe in Alula's own parameters; nil for one with other rules.
    var ownOptions: RenderingOptions? { get }
}

extension RenderRecipe {
    package var ownOptions: RenderingOptions? { nil }
}

package struct RecipeSource: Hashable, Sendable {
    package let header: ImageHeader
    /// The part that remains after the trim, in pixels of the upright page; nil before the trim, and without one.
    package internal(set) var box: ImagePart?
    package let additions: [ImageHeader]
    package let rules: RenderingRules
    /// The formats that cannot represent the result.
    ///
    /// A recipe that chooses the format must choose another one; a format that the request names is kept, and the
    /// request fails.
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

    /// Returns the first of `formats` that can represent the result, otherwise PNG, or JPEG for an opaque still.
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

package struct Composition: Sendable {
    /// The page or frame to show, from 0; the first of several frames.
    package var page = 0
    /// Maximum number of frames to keep, starting with the first; 1 for a still.
    package var frames = 1
    /// Whether several frames become one tall image in a format without animations; otherwise only the first one is
    /// shown.
    package var stacksFrames = false
    package var timing: FrameTiming?
    /// The border to remove first; nil for none, as for animations.
    package var trim: ImageOperations.Trim?
    /// Whether a trim may enlarge the result, for which memory is then reserved.
    package var mayGrowByTrim = true
    /// The part to keep, in pixels of the upright page; nil for everything that the trim leaves.
    package var part: ImagePart?
    package var turn = QuarterTurn.none
    package var size: PixelSize
    /// The sides of `size` that determine the level of the decode; nil for both, one of which may have been rounded up.
    var decidingSides: [RenderLayout.Side]?
    /// The part to keep of the resampled and turned image; nil for all of it.
    package var crop: CropStep?
    package var light = ResamplingLight.gamma
    package var steps: RenderSteps = []
    /// The additional sources that the steps use, in the order of ``RecipeSource/additions``; nil for an unused one.
    package var additions: [RecipeAddition?] = []
    package var format: ImageFormat
    package var quality: EncodingQuality
    package var qualityScale = QualityScale.encoder
    /// The quality of the palette in formats without another quality, 1…100; nil for the image's own colors.
    var paletteQuality: Int?
    package var bitDepth: Int?
    package var gamut: Gamut?
    /// Whether to write the source's artist and copyright, if the format supports it.
    package var keepsCopyright = false
    /// Whether to keep the source's gain map, if the format supports it and no step changes colors or adds pixels.
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

    /// Creates an additional source that is scaled to `size`.
    ///
    /// If the image is trimmed, its size is not known when the decode is planned; `isSizeCertain` is then false for
    /// both compositions.
    package init(_ header: ImageHeader, scaledTo size: PixelSize, isSizeCertain: Bool = true) {
        level = isSizeCertain && header.drawing == nil ? Self.level(of: header.size, for: size) : 1
        decoded = header.shape.reduced(by: level)
    }

    init(_ header: ImageHeader, drawnIn size: PixelSize, part: DrawnPart?) {
        (drawnSize, drawnPart) = (size, part)
        decoded = FrameShape(size: size, hasAlpha: header.hasAlpha)
    }

    /// Returns the largest level that leaves at least twice the pixels of `scaled` on both sides.
    private static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}

package struct AnyRenderRecipe: Sendable {
    package let recipe: any RenderRecipe

    package init(_ recipe: some RenderRecipe) {
        self.recipe = recipe
    }
}

extension AnyRenderRecipe: Hashable {
    package static func == (one: Self, other: Self) -> Bool {
        func isSame<Recipe: RenderRecipe>(_ recipe: Recipe) -> Bool { recipe == other.recipe as? Recipe }
        return isSame(one.recipe)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}
