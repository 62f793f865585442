/// What a frame is between two steps of a render.
package struct FrameShape: Hashable, Sendable {
    /// Its size.
    package var size: PixelSize
    /// Whether parts may be transparent.
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

/// What a step has to do with one frame.
package struct StepWork: Hashable, Sendable {
    /// What comes in.
    package let input: FrameShape
    /// What comes out.
    package let output: FrameShape
    /// Pixels of the input that the step looks at.
    package internal(set) var read = 0
    /// Pixels of the output that are wanted after the step.
    package internal(set) var made = 0
}

/// What a step takes in time and memory.
package struct StepCost: Hashable, Sendable {
    /// Nanoseconds of one core for each frame.
    package let perFrame: Double
    /// Nanoseconds of one core for all frames together.
    package let once: Double
    /// Bytes that the step holds besides the frame that goes through it.
    package let bytes: Int

    /// A cost of these values.
    package init(perFrame: Double = 0, once: Double = 0, bytes: Int = 0) {
        self.perFrame = perFrame
        self.once = once
        self.bytes = bytes
    }

    /// Too little to count.
    static let none = StepCost()
}
