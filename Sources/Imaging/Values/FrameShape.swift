/// The size of a frame between two steps of a render, and whether it may be transparent.
package struct FrameShape: Hashable, Sendable {
    package var size: PixelSize
    /// Whether the frame may have transparent parts.
    package var hasAlpha: Bool

    /// A frame of this size.
    package init(size: PixelSize, hasAlpha: Bool) {
        self.size = size
        self.hasAlpha = hasAlpha
    }

    /// The frame with sides divided by a whole number and rounded up.
    func reduced(by level: Int) -> FrameShape {
        func reduced(_ side: Int) -> Int { side / level + (side % level > 0 ? 1 : 0) }
        return FrameShape(
            size: PixelSize(width: reduced(size.width), height: reduced(size.height)), hasAlpha: hasAlpha)
    }
}
