import Recipes
import ThumbnailTypes

extension ThumborRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { options.quality == nil && (options.format?.hasQuality ?? true) }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> ThumborRecipe {
        var recipe = self
        if let quality = options.quality { recipe.options.quality = try policy.quality(quality) }
        guard !policy.sizes.isEmpty else { return recipe }
        if options.isDebug || options.isRaw {
            // These options serve the image at its original size.
            guard policy.rule == .up else { throw policy.rejection("w") }
            recipe.options.isDebug = false
            recipe.options.isRaw = false
        }
        let box = RequestedBox(
            width: try side(options.geometry.width, named: "w", within: policy),
            height: try side(options.geometry.height, named: "h", within: policy))
        let allowed = try policy.allowed(box, choices: choices)
        let hasOriginalSide = options.geometry.width == .original || options.geometry.height == .original
        guard allowed != box || hasOriginalSide else { return recipe }
        recipe.options.geometry.width = allowed.width.map { .pixels($0) } ?? .automatic
        recipe.options.geometry.height = allowed.height.map { .pixels($0) } ?? .automatic
        recipe.options.filters.removeAll { $0.proportion != nil }
        recipe.text = ThumborTarget.optionText(text, with: recipe.options.geometry)
        return recipe
    }

    /// Returns the side after filters that scale; the image's own side can be any, so it counts as the largest allowed.
    private func side(
        _ side: ThumborGeometry.Side, named name: String, within policy: SizePolicy
    ) throws(APIError) -> Int? {
        switch side {
        case .automatic: return nil
        case .pixels(let pixels):
            return options.filters.compactMap(\.proportion).reduce(pixels) { side, share in
                let scaled = Double(side) * Double(share) / 1_000_000
                return max(1, min(Int(scaled), ThumborLayout.maximumSide))
            }
        case .original, .parent:
            guard policy.rule == .up else { throw policy.rejection(name) }
            return policy.sizes.last
        }
    }
}

extension ThumborFilter {
    fileprivate var proportion: Int? { if case .proportion(let share) = self { share } else { nil } }
}
