extension RenderPlan {
    /// The plan's texts in the key of a result on disk: everything that decides the pixels and bytes, given the source.
    ///
    /// The texts are spelled out: if they followed the names of types and properties, a renaming would lose every result on disk.
    /// A change that makes other bytes must change a text; no other change may.
    package var keyTexts: [String] { [decode.keyText] + steps.map(\.keyText) + ["\(format.rawValue) \(quality)"] }
}

extension DecodePlan {
    fileprivate var keyText: String {
        let frames = isAnimated ? "frames \(mostFrames)" : "page \(page)"
        return "\(frames) level \(level) \(incompleteImages.rawValue)"
    }
}
