import Recipes
import ThumbnailTypes

extension ImaginaryRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { operations.allSatisfy { !(1...100 ~= $0.options.quality) } }

    /// Limits each operation separately, because others may be skipped; at least one must name a side.
    func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> ImaginaryRecipe {
        var operations = operations
        for index in operations.indices { try operations[index].options.allow(by: policy, choices) }
        if !policy.sizes.isEmpty, !operations.contains(where: { $0.options.box != PixelSize(width: 0, height: 0) }) {
            var options = ImaginaryOptions()
            options.width = try policy.allowed(RequestedBox(), choices).width ?? 0
            operations.append(try ImaginaryOperation(.resize, options, format: nil))
        }
        return ImaginaryRecipe(operations: operations)
    }
}

extension ImaginaryOptions {
    fileprivate mutating func allow(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) {
        if 1...100 ~= quality { quality = try policy.quality(quality) }
        guard !policy.sizes.isEmpty else { return }
        let own = RequestedBox(width: box.width > 0 ? box.width : nil, height: box.height > 0 ? box.height : nil)
        // Each pixel becomes several.
        if factor > 0 {
            guard policy.rule == .up else { throw policy.refusal("w") }
            factor = 0
        }
        guard own != RequestedBox() else { return }
        let allowed = try policy.allowed(own, choices)
        if allowed != own { (width, height, ratio) = (allowed.width ?? 0, allowed.height ?? 0, nil) }
    }
}

extension ImaginaryFactsRecipe: SizedRecipe {
    var hasDefaultQuality: Bool { false }

    func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> Self { self }
}
