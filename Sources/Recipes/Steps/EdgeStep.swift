package struct EdgeStep: RenderStep {
    package let edge: ImageOperations.Margins.Extend
    package let margins: ImageOperations.Margins
    private static let time = 6.0

    package init(_ edge: ImageOperations.Margins.Extend, margins: ImageOperations.Margins) {
        self.edge = edge
        self.margins = margins
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: margins.around(input.size), hasAlpha: input.hasAlpha)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String {
        "edge \(edge.rawValue) \(margins.top),\(margins.right),\(margins.bottom),\(margins.left)"
    }

    package var summary: String {
        "add margins of \(margins.top), \(margins.right), \(margins.bottom), \(margins.left) pixels: \(edge.rawValue)"
    }
}
