import Imaging
import ThumbnailTypes

/// The operator's bounds on what clients ask for, in all grammars: the one place that each of their requests passes.
package struct ClientPolicy: Sendable {
    /// The sizes and qualities of requests that are not signed.
    let sizes: SizePolicy
    /// The quality of results for clients that save data, unless a lower one or one by name counts; nil for no such
    /// quality.
    let saveDataQuality: Int?

    /// Whether requests that are not signed may name tags; those of presets are the operator's.
    let takesUnsignedTags: Bool

    /// A policy of these bounds.
    package init(
        _ sizes: SizePolicy = SizePolicy(), saveDataQuality: Int? = nil, takesUnsignedTags: Bool = true
    ) {
        (self.sizes, self.saveDataQuality, self.takesUnsignedTags) = (sizes, saveDataQuality, takesUnsignedTags)
    }

    /// The query of a target of `dialect`, or of the target that is allowed in its place.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    package func query(in target: RequestedTarget, of dialect: any Dialect) throws(APIError) -> ThumbnailQuery {
        try allowed(try dialect.query(in: target), isSigned: dialect.isSigned(target), target.hints)
    }

    /// The query that is allowed in place of a client's.
    ///
    /// - Throws: ``APIError/sizeNotAllowed(_:allowed:)`` or ``APIError/tagsNotAllowed``.
    package func allowed(
        _ query: ThumbnailQuery, isSigned: Bool, _ hints: ClientHints
    ) throws(APIError) -> ThumbnailQuery {
        guard query.answer.facts == nil else { return query }
        if !takesUnsignedTags, !isSigned, !query.request.tags.isEmpty, query.choices.contains(.tags) {
            throw .tagsNotAllowed
        }
        let isBounded = !isSigned && !sizes.isOpen
        guard let recipe = query.request.recipe.recipe as? any SizedRecipe else {
            // A grammar whose recipes cannot be bounded is none that strangers may use.
            if isBounded { throw sizes.refusal("w") }
            return query
        }
        var allowed = query
        if isBounded {
            allowed.request.recipe = try Self.allowed(recipe, by: sizes, query.choices)
            if let placeholder = query.placeholder, let options = allowed.request.ownOptions {
                allowed.placeholder = Placeholder(placeholder.color, in: options)
            }
        }
        if let saveDataQuality, recipe.hasDefaultQuality {
            let read = hints.only(.saveData)
            allowed.hintFields.formUnion(read.fields)
            if read.savesData { allowed.request.defaultQualityLimit = saveDataQuality }
        }
        return allowed
    }

    private static func allowed<Recipe: SizedRecipe>(
        _ recipe: Recipe, by sizes: SizePolicy, _ choices: ClientChoices
    ) throws(APIError) -> AnyRenderRecipe {
        AnyRenderRecipe(try recipe.allowed(by: sizes, choices))
    }
}
