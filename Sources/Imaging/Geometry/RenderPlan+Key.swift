extension RenderPlan {
    /// The plan in the key of a result that outlives the process: all that decides the pixels and bytes, given the source.
    ///
    /// Spelled out, because a key that follows the names of types and properties would lose every kept result when one is renamed.
    /// What makes other bytes must change a text; nothing else may.
    package var keyTexts: [String] { [decode.keyText] + steps.map(\.keyText) + ["\(format.rawValue) \(quality)"] }
}

extension DecodePlan {
    fileprivate var keyText: String {
        let frames = isAnimated ? "frames \(mostFrames)" : "page \(page)"
        return "\(frames) level \(level) \(incompleteImages.rawValue)"
    }
}
