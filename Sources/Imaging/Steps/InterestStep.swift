import Coordination

/// A crop to the part of the image that matters most, by the first frame if animated.
package struct InterestStep: Hashable {
    /// How the part is chosen.
    package let measure: InterestMeasure
    /// Size of the part.
    package let size: PixelSize

    /// Nanoseconds of one core for each pixel that is read; measured as ``TimePrice`` says.
    private static let time = 35.0

    /// A step that keeps the part of `size` with the most of `measure`.
    package init(_ measure: InterestMeasure, size: PixelSize) {
        self.measure = measure
        self.size = size
    }
}

extension InterestStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { StepCost(once: Double(work.read) * Self.time) }

    package var keyText: String { "\(measure.rawValue) \(size.width)x\(size.height)" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        // The measure reads the pixels several times.
        image.watch(context.token)
        let computed = try image.computed()
        try context.token.check()
        let origin = try context.decided { try computed.smartCropOrigin(for: size, by: measure) }
        return try computed.extracted(left: origin.left, top: origin.top, width: size.width, height: size.height)
    }
}
