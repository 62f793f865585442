import Coordination

package struct EdgeStep: Hashable {
    package let edge: ImageOperations.Margins.Pixels
    package let margins: ImageOperations.Margins

    /// Nanoseconds per output pixel; see ``TimeCost``.
    private static let time = 6.0

    package init(_ edge: ImageOperations.Margins.Pixels, _ margins: ImageOperations.Margins) {
        (self.edge, self.margins) = (edge, margins)
    }
}

extension EdgeStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: margins.around(input.size), hasAlpha: input.hasAlpha)
    }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String {
        "edge \(edge.rawValue) \(margins.top),\(margins.right),\(margins.bottom),\(margins.left)"
    }

    package var words: String {
        "add margins of \(margins.top), \(margins.right), \(margins.bottom), \(margins.left) pixels: \(edge.rawValue)"
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        image.watch(context.token)
        let image = try image.computed()
        try context.token.check()
        let size = margins.around(PixelSize(width: image.width, height: image.height))
        return try image.extended(edge, left: margins.left, top: margins.top, to: size)
    }
}
