/// The size of a frame between two steps of a render, and whether it may be transparent.
package struct FrameShape: Hashable, Sendable {
    /// Size in pixels.
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

/// The work of a step on one frame.
package struct StepWork: Hashable, Sendable {
    /// The frame before the step.
    package let input: FrameShape
    /// The frame after the step.
    package let output: FrameShape
    /// Pixels of the input that the step reads.
    package internal(set) var read = 0
    /// Pixels of the output that later steps read.
    package internal(set) var made = 0
}

/// The time and memory that a step takes.
package struct StepCost: Hashable, Sendable {
    /// Nanoseconds of one core for each frame.
    package let perFrame: Double
    /// Nanoseconds of one core for all frames together.
    package let once: Double
    /// Bytes that the step holds besides its frame.
    package let bytes: Int

    /// A cost of these values.
    package init(perFrame: Double = 0, once: Double = 0, bytes: Int = 0) {
        self.perFrame = perFrame
        self.once = once
        self.bytes = bytes
    }

    /// A cost too small to count.
    static let none = StepCost()
}
