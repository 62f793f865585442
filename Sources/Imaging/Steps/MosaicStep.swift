/// Squares of a grid from the top left, each of which becomes its mean.
package struct MosaicStep: Hashable {
    /// Side of a square in pixels, above 1.
    package let side: Int

    /// Nanoseconds of one core for each pixel; measured as ``TimePrice`` says.
    private static let time = 10.0

    /// A step with squares of `side` pixels.
    package init(side: Int) {
        self.side = side
    }
}

extension MosaicStep: WholeFrameStep {
    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "pixelate \(side)" }

    package var words: String { "pixelate to squares of \(side) pixels" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.pixelated(side: side, token: context.token)
    }
}
