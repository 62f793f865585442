/// A resample of the whole image to another size.
package struct ResampleStep: Hashable {
    /// The new size.
    package let size: PixelSize
    /// What is averaged: stored components or light.
    package let light: ResamplingLight

    /// A step that makes images of `size`.
    package init(to size: PixelSize, in light: ResamplingLight = .gamma) {
        self.size = size
        self.light = light
    }
}

extension ResampleStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        guard work.input.size != size else { return .none }
        let weighing = (work.input.hasAlpha ? TimePrice.weighing : 1) * (light == .linear ? TimePrice.weighing : 1)
        let resampling =
            Double(work.read) * TimePrice.resampling.read + Double(work.made) * TimePrice.resampling.made
        return StepCost(perFrame: resampling * weighing)
    }

    package var keyText: String { "resample \(size.width)x\(size.height) \(light.rawValue)" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.resampled(to: size, in: light)
    }
}

extension ResampleStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        guard target.isWhole else { return nil }
        var next = target
        next.resizedSize = size
        next.rectangle = (0, 0, size)
        next.light = light
        next.isWhole = false
        return next
    }
}
