/// Pixelates: each square of a grid from the top left becomes its mean.
package struct MosaicStep: Hashable {
    /// Side of a square in pixels, above 1.
    package let side: Int

    /// Nanoseconds per pixel; see ``TimeCost``.
    private static let time = 10.0

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
