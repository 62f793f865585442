package import Recipes
package import ThumbnailTypes

package struct RequestedBox: Hashable, Sendable {
    var width: Int?
    var height: Int?
}

/// A recipe whose box and quality an operator can limit.
package protocol SizedRecipe: RenderRecipe {
    /// Whether neither the target nor a preset names a quality, and the format has one.
    var hasDefaultQuality: Bool { get }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> Self
}

package protocol BoxRecipe: SizedRecipe {
    var box: RequestedBox { get }
    var quality: Int? { get }

    mutating func set(_ box: RequestedBox, quality: Int?)
}

extension BoxRecipe {
    package func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> Self {
        let allowed = try choices.contains(.quality) ? quality.map(policy.quality) : quality
        var recipe = self
        recipe.set(try policy.allowed(box, choices: choices), quality: allowed)
        return recipe
    }
}
