/// One thing that a render does to the pixels of each frame.
///
/// A step says everything about itself: what it does to size and alpha, what it costs, how a result's key names it, and how libvips
/// does it. Nothing else knows the kinds of steps, so a new one is a file in this folder and the place that puts it into a plan. A
/// step that another lane can do too conforms to that lane's protocol as well, such as ``PlanarStep``.
package protocol RenderStep: Hashable, Sendable {
    /// What the step makes of a frame of this shape.
    func shape(after input: FrameShape) -> FrameShape

    /// How many pixels of a frame of this shape the step looks at to make `wanted` pixels of its result.
    ///
    /// Pixels are computed when they are wanted: what a later step cuts off costs nothing before.
    func pixelsRead(of input: FrameShape, for wanted: Int) -> Int

    /// What the step takes in time and memory.
    func cost(of work: StepWork) -> StepCost

    /// The step in the key of a kept result: its kind and everything that decides its pixels.
    ///
    /// The text is never changed: caches on disk know results by it. If the step makes other pixels, it gets another text.
    var keyText: String { get }

    /// The frame after this step, not computed yet.
    ///
    /// - Parameter context: The step's own: what it keeps there during the first frame it finds there during the others.
    func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage
}

extension RenderStep {
    /// Whether `other` is the same step with the same values.
    func isEqual(to other: any RenderStep) -> Bool {
        func isSame<Other: RenderStep>(_ other: Other) -> Bool {
            guard Other.self == Self.self else { return false }
            // The types are equal. A hit of the result cache compares steps, and `as?` takes several times as long.
            return unsafe unsafeBitCast(other, to: Self.self) == self
        }
        return isSame(other)
    }
}
