package import Imaging
package import Text

/// One caller's request: the sources, the options of the render, and the formats that the result may have.
///
/// Sources are texts here, because the grammars that make requests know no origins. The pipeline turns them into
/// identities, once.
package struct ThumbnailRequest: Hashable, Sendable {
    /// The source as the client named it, percent-decoded once: an absolute URL, or `NAME:PATH` of a named origin.
    package var source: ExactText
    /// Sources that steps use besides the image, each for its role.
    package var additional: [AdditionalSource]
    /// The rules of the request's grammar with its options: size, crop, format, quality and the like.
    package var recipe: AnyRenderRecipe
    /// Whether `Accept` chooses the format.
    package var isNegotiated: Bool
    /// Most bytes of the image's file, below the bound of all sources; nil for that bound.
    package var maximumSourceBytes: Int?
    /// The highest quality of the result if the request names none; nil for no such bound.
    package var defaultQualityLimit: Int?
    /// The tags under which the image can be purged.
    package var tags: [ExactText] = []

    /// A request for `source`.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], recipe: some RenderRecipe, isNegotiated: Bool
    ) {
        self.source = source
        self.additional = additional
        self.recipe = AnyRenderRecipe(recipe)
        self.isNegotiated = isNegotiated
    }

    /// A request for `source` by Alula's own rules.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions()
    ) {
        self.init(source: source, additional: additional, recipe: options, isNegotiated: !options.format.isFixed)
    }

    /// The options of a request by Alula's own rules; nil for one by other rules.
    package var ownOptions: RenderingOptions? { recipe.recipe.ownOptions }
}
