/// What of a source is decoded, and how finely: with the source's identity the key of the decoded cache.
package struct DecodePlan: Hashable, Sendable {
    /// The page or frame, from 0; 0 for animations.
    package let page: Int
    /// By how much each side is reduced while decoding: 1, 2, 4 or 8.
    package let level: Int
    /// Whether all frames are decoded.
    package let isAnimated: Bool

    /// A plan for one page, or for all frames.
    package init(page: Int = 0, level: Int = 1, isAnimated: Bool = false) {
        self.page = page
        self.level = level
        self.isAnimated = isAnimated
    }
}
