package struct MarginStep: RenderStep {
    package let margins: ImageOperations.Margins
    /// The color of the margins; transparent parts of the image stay transparent.
    package let color: Color

    package init(_ margins: ImageOperations.Margins, color: Color) {
        self.margins = margins
        self.color = color
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: margins.around(input.size), hasAlpha: input.hasAlpha || color.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { min(outputPixels, input.size.area) }

    package func cost(of work: StepWork) -> StepCost {
        CanvasStep(size: work.output.size, x: margins.left, y: margins.top, color: color).cost(of: work)
    }

    package var keyText: String {
        "pad \(margins.top),\(margins.right),\(margins.bottom),\(margins.left) \(color.keyText)"
    }

    package var summary: String {
        "add margins of \(margins.top), \(margins.right), \(margins.bottom), \(margins.left) pixels in \(color.summary)"
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        [("pad", "\(margins.top),\(margins.right),\(margins.bottom),\(margins.left)")] + color.backgroundParameter
    }
}
