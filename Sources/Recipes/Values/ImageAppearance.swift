package struct ImageAppearance: Sendable {
    package enum Feature: String, CaseIterable, Sendable {
        case color
        case palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        /// A tiny image, rendered from the source.
        case preview
    }

    package struct Entry: Sendable, Equatable {
        package let color: Color
        package let share: Int

        package init(color: Color, share: Int) {
            self.color = color
            self.share = share
        }
    }

    /// Up to six colors, most frequent first; empty if nothing is visible.
    ///
    /// The shares sum to 10000.
    package let palette: [Entry]
    package let blurHash: String?
    package let thumbHash: [UInt8]?

    /// The longest side of the small image; ThumbHash's limit, and enough for the other facts.
    package static let longestSide = 100

    package init(palette: [Entry], blurHash: String?, thumbHash: [UInt8]?) {
        self.palette = palette
        self.blurHash = blurHash
        self.thumbHash = thumbHash
    }
}
