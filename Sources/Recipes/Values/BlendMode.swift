/// W3C Compositing and Blending 1.
package enum BlendMode: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case difference, exclusion
    case add
    /// Shows the image where the other one is opaque, and is transparent elsewhere.
    case mask
    case maskOut = "mask-out"

    package var addsAlpha: Bool { self == .mask || self == .maskOut }
}

/// The positions of copies along one axis.
package struct CopyPositions: Hashable, Sendable {
    /// The distance from the image's edge; negative outside the image.
    package var start: Int
    package var count: Int
    package var pitch: Int

    package init(start: Int, count: Int = 1, pitch: Int = 0) {
        self.start = start
        self.count = count
        self.pitch = pitch
    }
}
