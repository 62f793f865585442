import Recipes
package import ThumbnailTypes

/// Limits on the requests of clients, in all dialects.
package struct ClientPolicy: Sendable {
    let sizes: SizePolicy
    /// The quality for clients that save data, unless a lower or an explicit one applies.
    let saveDataQuality: Int?

    /// Whether unsigned requests may name tags; tags of presets are the operator's.
    let takesUnsignedTags: Bool
    let limits: RequestLimits

    package init(
        _ sizes: SizePolicy = SizePolicy(), saveDataQuality: Int? = nil, takesUnsignedTags: Bool = true,
        limits: RequestLimits = RequestLimits()
    ) {
        self.sizes = sizes
        self.saveDataQuality = saveDataQuality
        self.takesUnsignedTags = takesUnsignedTags
        self.limits = limits
    }

    package func request(in target: RequestedTarget, of dialect: any Dialect) throws(APIError) -> Request {
        try allowed(try dialect.request(in: target), isSigned: dialect.isSigned(target), hints: target.hints)
    }

    package func allowed(_ request: Request, isSigned: Bool, hints: ClientHints) throws(APIError) -> Request {
        var request = request
        request.limits = request.limits.within(limits)
        guard request.form.facts == nil else { return request }
        if !takesUnsignedTags, !isSigned, !request.tags.isEmpty, request.choices.contains(.tags) {
            throw .tagsNotAllowed
        }
        let limitsSizes = (!isSigned || sizes.limitsSigned) && !sizes.isUnlimited
        guard let recipe = request.recipe.recipe as? any SizedRecipe else {
            // Reject a recipe that cannot be limited while sizes are limited.
            if limitsSizes { throw sizes.rejection("w") }
            return request
        }
        if limitsSizes { try limitSizes(of: &request, recipe: recipe) }
        if recipe.hasDefaultQuality { limitDefaultQuality(of: &request, hints: hints) }
        return request
    }

    private func limitSizes(of request: inout Request, recipe: any SizedRecipe) throws(APIError) {
        request.recipe = try Self.allowed(recipe, by: sizes, choices: request.choices)
        if let placeholder = request.placeholder, let options = request.nativeOptions {
            request.placeholder = Placeholder(placeholder.color, in: options)
        }
    }

    private func limitDefaultQuality(of request: inout Request, hints: ClientHints) {
        guard let saveDataQuality else { return }
        let read = hints.only(.saveData)
        request.hintFields.formUnion(read.fields)
        if read.savesData { request.defaultQualityLimit = saveDataQuality }
    }

    private static func allowed<Recipe: SizedRecipe>(
        _ recipe: Recipe, by sizes: SizePolicy, choices: ClientChoices
    ) throws(APIError) -> AnyRenderRecipe {
        AnyRenderRecipe(try recipe.allowed(by: sizes, choices: choices))
    }
}
