package import Imaging
package import Text

/// A client's request: the sources, the rendering options, and the allowed output formats.
///
/// Sources are texts here, because the grammars that parse requests know no origins. The pipeline resolves them to
/// identities, once.
package struct ThumbnailRequest: Hashable, Sendable {
    /// The source as named by the client, percent-decoded once: an absolute URL, or `NAME:PATH` of a named origin.
    package var source: ExactText
    package var additional: [AdditionalSource]
    /// The rules of the request's grammar with its options: size, crop, format, quality and so on.
    package var recipe: AnyRenderRecipe
    /// Whether `Accept` selects the format.
    package var isNegotiated: Bool
    /// The maximum size of the image's file in bytes, below the general limit; nil for the general limit.
    package var maximumSourceBytes: Int?
    /// The maximum quality of the result if the request specifies none; nil for no limit.
    package var defaultQualityLimit: Int?
    /// The tags by which the image can be purged.
    package var tags: [ExactText] = []

    package init(
        source: ExactText, additional: [AdditionalSource] = [], recipe: some RenderRecipe, isNegotiated: Bool
    ) {
        self.source = source
        self.additional = additional
        self.recipe = AnyRenderRecipe(recipe)
        self.isNegotiated = isNegotiated
    }

    /// Creates a request with Alula's own rules.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions()
    ) {
        self.init(source: source, additional: additional, recipe: options, isNegotiated: !options.format.isFixed)
    }

    /// The options of a request with Alula's own rules; nil for other rules.
    package var ownOptions: RenderingOptions? { recipe.recipe.ownOptions }
}
