/// How the colors of something that is laid on an image are mixed with the image's: W3C Compositing and Blending 1.
package enum BlendMode: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case difference, exclusion
    /// The sum of both, with alpha.
    case add
    /// The image where the other one is opaque, and nothing elsewhere.
    case mask
    /// The image where the other one is transparent.
    case maskOut = "mask-out"

    /// Whether an opaque image has transparent parts afterwards.
    package var addsAlpha: Bool { self == .mask || self == .maskOut }
}

/// The places of copies along one axis, in pixels.
package struct BlendRow: Hashable, Sendable {
    /// Distance of the first copy from the image's edge; negative if it begins outside.
    package var start: Int
    /// The number of copies.
    package var count: Int
    /// The distance from a copy's beginning to the next one's.
    package var pitch: Int

    /// Copies at even distances.
    package init(start: Int, count: Int = 1, pitch: Int = 0) {
        (self.start, self.count, self.pitch) = (start, count, pitch)
    }
}
