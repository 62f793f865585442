import Imaging

extension CloudflareRecipe: SizedRecipe {
    var isQualityUnnamed: Bool { options.quality == nil && (options.format?.hasQuality ?? true) }

    func allowed(by policy: SizePolicy, _ asked: AskedParts) throws(APIError) -> CloudflareRecipe {
        var quality = options.quality
        if let named = quality { quality = try policy.quality(named) }
        let box = try policy.allowed(AskedBox(width: options.width, height: options.height), asked)
        var recipe = self
        recipe.options.set(box, quality: quality)
        return recipe
    }
}
