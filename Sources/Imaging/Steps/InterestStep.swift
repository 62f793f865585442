import Coordination

/// A crop to the part of the image that matters most, by the first frame if animated.
package struct InterestStep: Hashable {
    /// How much a part matters.
    package enum Measure: String, Sendable, Hashable, CaseIterable {
        /// By saliency: edges, skin colours and saturated colours.
        case attention
        /// By the amount of information.
        case entropy
    }

    /// How the part is chosen.
    package let measure: Measure
    /// Size of the part.
    package let size: PixelSize

    /// A step that keeps the part of `size` with the most of `measure`.
    package init(_ measure: Measure, size: PixelSize) {
        self.measure = measure
        self.size = size
    }
}

extension InterestStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { StepCost(once: Double(work.read) * TimePrice.interest) }

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
