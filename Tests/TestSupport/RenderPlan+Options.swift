package import Recipes

extension RenderPlan {
    /// The plan of a request in Alula's own grammar for a result in `format`.
    ///
    /// - Parameter isFormatChosen: Whether the client named the format, so that its quality applies.
    /// - Throws: ``ImagingError`` if the limits or the output format exclude the source, page or result.
    package init(
        options: RenderingOptions, format: ImageFormat, isFormatChosen: Bool = false, source: ImageHeader,
        limits: ImagingLimits, light: ResamplingLight = .gamma, efforts: EncoderEfforts = EncoderEfforts(),
        similarity: SimilarityGoal = SimilarityGoal(), additions: [ImageHeader] = []
    ) throws(ImagingError) {
        var options = options
        options.format = isFormatChosen || format.hasQuality ? .fixed(format) : .negotiated([format: 1_000])
        var rules = RenderingRules(limits: limits)
        (rules.light, rules.efforts, rules.similarity) = (light, efforts, similarity)
        rules.automaticFormats = [format]
        try self.init(
            AnyRenderRecipe(options), of: RecipeSource(header: source, additions: additions, rules: rules))
    }

    /// The plan of a recipe for `source` under these limits.
    ///
    /// - Throws: Errors of the recipe and of the limits.
    package init(
        _ recipe: some RenderRecipe, source: ImageHeader, limits: ImagingLimits = ImagingLimits(),
        additions: [ImageHeader] = []
    ) throws(ImagingError) {
        try self.init(
            AnyRenderRecipe(recipe),
            of: RecipeSource(header: source, additions: additions, rules: RenderingRules(limits: limits)))
    }
}
