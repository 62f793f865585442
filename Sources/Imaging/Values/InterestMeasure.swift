/// How much a part of an image matters.
package enum InterestMeasure: String, Sendable, Hashable, CaseIterable {
    /// By saliency: edges, skin colours and saturated colours.
    case attention
    /// By the amount of information.
    case entropy
}
