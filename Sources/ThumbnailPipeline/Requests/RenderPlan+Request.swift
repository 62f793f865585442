package import Imaging

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
        let source = RecipeSource(header: headers.image, additions: headers.additional, rules: rules)
        do throws(ImagingError) {
            try self.init(request.recipe, of: source)
        } catch {
            guard case .ofAddition(let number, let underlying) = error else { throw error }
            throw AdditionalSourceError(role: request.additional[number].role, underlying: underlying)
        }
    }
}
