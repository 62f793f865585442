package struct CanvasStep: RenderStep {
    package let size: PixelSize
    package let x: Int
    package let y: Int
    /// The color around the image; transparent parts of the image stay transparent.
    package let color: Color

    private static let time = 3.0

    package init(size: PixelSize, x: Int, y: Int, color: Color) {
        self.size = size
        self.x = x
        self.y = y
        self.color = color
    }

    package init(size: PixelSize, around image: PixelSize, at gravity: Gravity, color: Color) {
        let corner = size.corner(of: image, at: gravity)
        self.init(size: size, x: corner.x, y: corner.y, color: color)
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: size, hasAlpha: input.hasAlpha || color.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { min(outputPixels, input.size.area) }

    package func cost(of work: StepWork) -> StepCost { StepCost(perFrame: Double(work.pixelsComputed) * Self.time) }

    package var keyText: String { "canvas \(size.keyText) \(x),\(y) \(color.keyText)" }

    package var summary: String { "place on a canvas of \(size) pixels in \(color.summary), at \(x), \(y)" }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        guard x == (self.size.width - size.width) / 2, y == (self.size.height - size.height) / 2 else { return nil }
        return [("fit", Fit.contain.rawValue)] + color.backgroundParameter
    }
}
