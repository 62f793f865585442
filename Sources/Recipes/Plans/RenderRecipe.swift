/// Converts the options of a dialect to steps when the header of the source is known.
///
/// No other code knows the dialect. The same recipe must return the same draft for the same source, because
/// results are cached by the plan.
package protocol RenderRecipe: Hashable, Sendable {
    /// Returns the draft; called again after a trim, with the remaining box.
    func draft(of source: RecipeSource) throws(ImagingError) -> RenderDraft

    /// The recipe's part of a key while the border is unknown: everything that determines the second draft.
    var keyText: String { get }

    /// The native options; nil for other services' recipes.
    var nativeOptions: RenderingOptions? { get }
}

extension RenderRecipe {
    package var nativeOptions: RenderingOptions? { nil }
}

package struct AnyRenderRecipe: Sendable {
    package let recipe: any RenderRecipe

    package init(_ recipe: some RenderRecipe) { self.recipe = recipe }
}

extension AnyRenderRecipe: Hashable {
    package static func == (one: Self, other: Self) -> Bool {
        func isSame<Recipe: RenderRecipe>(_ recipe: Recipe) -> Bool { recipe == other.recipe as? Recipe }
        return isSame(one.recipe)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(recipe) }
}
