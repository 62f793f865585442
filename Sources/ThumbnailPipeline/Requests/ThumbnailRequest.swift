package import Imaging
package import Text

/// One caller's request: the sources, the options of the render, and the formats that the result may have.
///
/// Sources are texts here, because the grammars that make requests know no origins. ``ThumbnailLookup/resolved(_:)``
/// turns them into identities, once.
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

    /// The use of each source; nil for the image.
    var roles: PerSource<AdditionalSource.Role?> { PerSource(nil, additional: additional.map(\.role)) }
}

extension RenderPlan {
    /// The plan of a request, given the headers of its sources.
    ///
    /// - Throws: ``ImagingError`` for sources, pages and results that the limits or the output format exclude; that of
    ///   an additional source within an ``AdditionalSourceError``.
    package init(
        for request: ThumbnailRequest, of headers: PerSource<ImageHeader>, by configuration: PipelineConfiguration
    ) throws {
        var rules = configuration.rules
        rules.limits.longestSteps = configuration.decodeTimeout
        rules.defaultQualityLimit = request.defaultQualityLimit
        let source = RecipeSource(header: headers.image, additions: headers.additional, rules: rules)
        do throws(ImagingError) {
            try self.init(request.recipe, of: source)
        } catch {
            guard case .ofAddition(let number, let underlying) = error else { throw error }
            throw AdditionalSourceError(role: request.additional[number].role, underlying: underlying)
        }
    }
}
