/// Rules by which the options of a grammar become steps, once the header of the source is known.
///
/// Sizes, their rounding, the order of the steps and the format of the result differ from grammar to grammar. A recipe
/// holds the options as its grammar understands them and works all of it out at once, so that no other code knows the
/// grammar. The same recipe must give the same composition for the same source: results are cached by the plan that is
/// made of it.
package protocol RenderRecipe: Hashable, Sendable {
    /// How the result is made from `source`.
    ///
    /// Called a second time if the composition trims: with the box that remained, which the parts and sizes are then
    /// computed from.
    ///
    /// - Throws: ``ImagingError`` for a page that the source has not got, or for a result that cannot be made.
    func composition(of source: RecipeSource) throws(ImagingError) -> Composition

    /// The recipe's text in the key of a result whose border is not known yet: all that decides the second composition.
    var keyText: String { get }

    /// The recipe as Alula's own parameters can say it; nil for one by other rules.
    var ownOptions: RenderingOptions? { get }
}

extension RenderRecipe {
    /// None.
    package var ownOptions: RenderingOptions? { nil }
}

/// A source that a recipe is applied to, and the rules for all requests.
package struct RecipeSource: Hashable, Sendable {
    /// The header of the source.
    package let header: ImageHeader
    /// The part that remained after the trim, in pixels of the upright page; nil before the trim, and without one.
    package internal(set) var box: ImagePart?
    /// The headers of the request's additional sources, in their order.
    package let additions: [ImageHeader]
    /// The choices of the operator.
    package let rules: RenderingRules
    /// The formats that cannot hold the result.
    ///
    /// A recipe that chooses the format chooses another one; one that the request names stays, and the request fails.
    package internal(set) var unfit: Set<ImageFormat> = []

    /// A source with this header.
    package init(
        header: ImageHeader, box: ImagePart? = nil, additions: [ImageHeader] = [],
        rules: RenderingRules = RenderingRules()
    ) {
        self.header = header
        self.box = box
        self.additions = additions
        self.rules = rules
    }

    /// Bounds on sources and results.
    package var limits: ImagingLimits { rules.limits }

    /// The first of `formats` that can hold the result, else PNG, or JPEG for an opaque still.
    ///
    /// - Parameter isMoving: Whether the result keeps several frames, if its format can.
    package func firstFit(of formats: [ImageFormat], hasAlpha: Bool, isMoving: Bool = false) -> ImageFormat {
        .first(of: formats, except: unfit, hasAlpha: hasAlpha, isMoving: isMoving)
    }

    /// The same source with the part that remained after the trim.
    package func with(box: ImagePart?) -> RecipeSource {
        var source = self
        source.box = box
        return source
    }

    /// All of a page, or the part of it that remained after the trim.
    package func whole(ofPage page: Int = 0) -> ImagePart { box ?? ImagePart(allOf: header.page(page).size) }
}

/// The way to make a result: the decode, the steps and the file.
package struct Composition: Sendable {
    /// The page or frame that is shown, from 0; the first of those that are kept.
    package var page = 0
    /// The most frames that are kept, from the first; 1 for a still.
    package var frames = 1
    /// Whether several frames become one tall image in a format without animations; only the first one is shown
    /// otherwise.
    package var stacksFrames = false
    /// How an animation is played; nil for as the source is.
    package var timing: FrameTiming?
    /// The border that is cut off before; nil for none, as for animations.
    package var trim: ImageOperations.Trim?
    /// Whether a trim may make the result larger than it is without one, which its memory is then reserved for.
    package var mayGrowByTrim = true
    /// The part that is kept, in pixels of the upright page; nil for all that the trim leaves.
    package var part: ImagePart?
    /// The turn of the part, as the EXIF orientation that it makes upright, 1…8.
    package var turn = QuarterTurn.none
    /// The size that the part is resampled to, after the turn.
    package var size: PixelSize
    /// The sides of `size` that decide the level of the decode; nil for both, of which one may have been rounded up.
    var decidingSides: [RenderLayout.Side]?
    /// The part of the resampled and turned image that is kept; nil for all of it.
    package var crop: CropStep?
    /// The amounts that resampling averages.
    package var light = ResamplingLight.gamma
    /// The steps after the resample, the turn and the crop.
    package var steps: RenderSteps = []
    /// The additional sources that the steps use, in the order of ``RecipeSource/additions``; nil for one that is not
    /// used.
    package var additions: [RecipeAddition?] = []
    /// The format of the result.
    package var format: ImageFormat
    /// How the encoder's quality is decided, in formats that have one.
    package var quality: EncodingQuality
    /// The meaning of the quality.
    package var qualityScale = QualityScale.encoder
    /// The quality of the palette in formats that have no other, 1…100; nil for the image's own colors.
    var paletteQuality: Int?
    /// Bits of a component, in formats with a choice; nil for the usual ones.
    package var bitDepth: Int?
    /// The colors of the result; nil for what the operator has chosen.
    package var gamut: Gamut?
    /// Whether files that can hold it say who made the source and who owns the rights.
    package var keepsCopyright = false
    /// Whether files that can hold it have the gain map of the source, if no step changes colors or adds pixels.
    package var keepsGainMap = false
    /// Whether the result is the file as the text of a `data:` URL.
    package var isDataURL = false

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
    private(set) var level = 1
    /// The size in which an image of shapes is drawn; nil for its natural size, and for images of pixels.
    private(set) var drawnSize: PixelSize?
    /// The rectangle that fills this size; nil for all of the image.
    private(set) var drawnPart: DrawnPart?
    /// A frame of the decoded source.
    package let decoded: FrameShape

    /// An additional source with this header that is scaled to `size`.
    ///
    /// If the image is trimmed, its size is not known when the decode is planned; `isSizeCertain` is false then, for
    /// both compositions.
    package init(_ header: ImageHeader, scaledTo size: PixelSize, isSizeCertain: Bool = true) {
        level = isSizeCertain && header.drawing == nil ? Self.level(of: header.size, for: size) : 1
        decoded = header.shape.reduced(by: level)
    }

    /// An additional source of shapes that is drawn in this size, or of which a part is.
    init(_ header: ImageHeader, drawnIn size: PixelSize, part: DrawnPart?) {
        (drawnSize, drawnPart) = (size, part)
        decoded = FrameShape(size: size, hasAlpha: header.hasAlpha)
    }

    /// The largest level that leaves at least twice the pixels of `scaled` on both sides.
    private static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}

/// Any recipe, as a value that can be compared.
package struct AnyRenderRecipe: Sendable {
    package let recipe: any RenderRecipe

    /// Holds `recipe`.
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
