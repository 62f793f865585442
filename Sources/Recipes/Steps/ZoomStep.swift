package struct ZoomStep: RenderStep {
    /// The side of the squares in pixels, above 1.
    package let factor: Int

    private static let time = 3.0

    package init(factor: Int) { self.factor = factor }

    package func shape(after input: FrameShape) -> FrameShape {
        let size = PixelSize(width: input.size.width * factor, height: input.size.height * factor)
        return FrameShape(size: size, hasAlpha: input.hasAlpha)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int {
        min(input.size.area, outputPixels / factor + input.size.width)
    }

    package func cost(of work: StepWork) -> StepCost {
        StepCost(
            perFrame: Double(work.pixelsComputed) * Self.time,
            bytes: work.input.size.area * (work.input.hasAlpha ? 4 : 3))
    }

    package var keyText: String { "zoom \(factor)" }

    package var summary: String { "enlarge \(factor) times without interpolation" }
}
