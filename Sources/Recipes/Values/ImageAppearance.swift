package struct ImageAppearance: Sendable {
    package enum Feature: String, CaseIterable, Sendable {
        case color
        case palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        /// A tiny image, which is not computed from the small one.
        case preview
    }

    package struct Entry: Sendable, Equatable {
        package let color: Color
        package let share: Int

        package init(color: Color, share: Int) { (self.color, self.share) = (color, share) }
    }

    /// At most six, the most frequent first; empty if nothing is visible.
    ///
    /// The most frequent colors; the shares sum to 10000.
    package let palette: [Entry]
    package let blurHash: String?
    package let thumbHash: [UInt8]?

    /// ThumbHash allows no more, and the other facts need no more.
    package static let longestSide = 100

    package init(palette: [Entry], blurHash: String?, thumbHash: [UInt8]?) {
        (self.palette, self.blurHash, self.thumbHash) = (palette, blurHash, thumbHash)
    }
}
