import Imaging

extension FrontEndRecipe: SizedRecipe {
    var isQualityUnnamed: Bool {
        if case .fixed(let format) = format, !format.hasQuality { return false }
        return quality == nil
    }

    func allowed(by policy: SizePolicy, _ asked: AskedParts) throws(APIError) -> FrontEndRecipe {
        var recipe = self
        if let quality { recipe.quality = try policy.quality(quality) }
        let box = try policy.allowed(AskedBox(width: width, height: height), asked)
        (recipe.width, recipe.height) = (box.width, box.height)
        return recipe
    }
}
