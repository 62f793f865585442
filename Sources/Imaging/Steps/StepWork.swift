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
