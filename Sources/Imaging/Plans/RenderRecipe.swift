/// Rules by which options of another service become steps, once the header of the source is known.
///
/// Sizes, their rounding, the order of the steps and the format of the result differ from service to service. A recipe holds the
/// options as that service understands them and works all of it out at once, so that no code outside of the recipe knows the service.
/// The same recipe must give the same composition for the same source: results are cached by the plan that is made of it.
package protocol RenderRecipe: Hashable, Sendable {
    /// How the result is made from `source`.
    ///
    /// Called a second time if the composition trims: with the box that remained, which the parts and sizes are then computed from.
    ///
    /// - Throws: ``ImagingError`` for a page that the source has not got, or for a result that cannot be made.
    func composition(of source: RecipeSource) throws(ImagingError) -> Composition

    /// The recipe's text in the key of a result whose border is not known yet: all that decides the second composition.
    var keyText: String { get }
}

/// What a recipe is applied to.
package struct RecipeSource: Sendable {
    /// The header of the source.
    package let header: ImageHeader
    /// What remained after the trim, in pixels of the upright page; nil before the trim, and without one.
    package let box: ImagePart?
    /// The headers of the request's additional sources, in their order.
    package let additions: [ImageHeader]
    /// Bounds on sources and results.
    package let limits: ImagingLimits

    /// A source with this header.
    package init(
        header: ImageHeader, box: ImagePart? = nil, additions: [ImageHeader] = [],
        limits: ImagingLimits = ImagingLimits()
    ) {
        self.header = header
        self.box = box
        self.additions = additions
        self.limits = limits
    }

    /// What the steps begin with: all of a page, or what remained of it after the trim.
    package func whole(ofPage page: Int = 0) -> ImagePart { box ?? ImagePart(allOf: header.page(page).size) }
}

/// How a result is made: what is decoded, what becomes of it, and how it is written.
package struct Composition: Sendable {
    /// The page or frame that is shown, from 0; the first of those that are kept.
    package var page = 0
    /// The most frames that are kept, from the first; 1 for a still.
    package var frames = 1
    /// Whether several frames become one tall image in a format without animations; only the first one is shown otherwise.
    package var stacksFrames = false
    /// How an animation is played; nil for as the source is.
    package var timing: FrameTiming?
    /// The border that is cut off before; nil for none, as for animations.
    package var trim: ImageOperations.Trim?
    /// The part that is kept, in pixels of the upright page; nil for all that the trim leaves.
    package var part: ImagePart?
    /// The turn of the part, as the EXIF orientation that it makes upright, 1…8.
    package var turn = 1
    /// The size that the part is resampled to, after the turn.
    package var size: PixelSize
    /// What resampling averages.
    package var light = ResamplingLight.gamma
    /// The steps after the resample and the turn.
    package var steps: RenderSteps = []
    /// The additional sources that the steps use, in the order of ``RecipeSource/additions``; nil for one that is not used.
    package var additions: [RecipeAddition?] = []
    /// The format of the result.
    package var format: ImageFormat
    /// How the encoder's quality is decided.
    package var quality: EncodingQuality

    /// A composition of all of the first page, resampled to `size`.
    package init(size: PixelSize, format: ImageFormat, quality: EncodingQuality) {
        self.size = size
        self.format = format
        self.quality = quality
    }
}

/// An additional source as a step of a composition uses it.
package struct RecipeAddition: Sendable {
    /// The divisor by which each side is reduced while decoding: 1, 2, 4 or 8.
    let level: Int
    /// A frame of the decoded source.
    package let decoded: FrameShape

    /// An additional source with this header that is scaled to `size`.
    ///
    /// If the image is trimmed, its size is not known when the decode is planned; `isSizeCertain` is false then, for both compositions.
    package init(_ header: ImageHeader, scaledTo size: PixelSize, isSizeCertain: Bool = true) {
        level = isSizeCertain && header.drawing == nil ? RenderPlan.level(of: header.size, for: size) : 1
        decoded = header.shape.reduced(by: level)
    }
}

/// Any recipe, as a value that can be compared.
package struct AnyRenderRecipe: Sendable {
    /// The recipe.
    package let recipe: any RenderRecipe

    /// Wraps `recipe`.
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
