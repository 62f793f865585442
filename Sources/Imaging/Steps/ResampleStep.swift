/// A resample of the whole image to another size.
package struct ResampleStep: Hashable {
    /// The new size.
    package let size: PixelSize
    /// What is averaged: stored components or light.
    package let light: ResamplingLight

    /// Nanoseconds of one core for each pixel that is read and each that is made; measured as ``TimePrice`` says.
    private static let time = (read: 10.0, made: 25.0)
    /// The factor by which resampling costs more if pixels are weighted by alpha, or if it is done on linear light.
    private static let weighting = 3.0

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
        let weighting = (work.input.hasAlpha ? Self.weighting : 1) * (light == .linear ? Self.weighting : 1)
        let resampling =
            Double(work.read) * Self.time.read + Double(work.made) * Self.time.made
        return StepCost(perFrame: resampling * weighting)
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
