package struct BackgroundStep: RenderStep {
    package enum Mixing: Hashable, Sendable {
        case composite
        /// Adds the color without weighting by alpha, so that colors of transparent pixels show.
        case sum
    }

    /// The color; if translucent, the image stays partly transparent.
    package let color: Color
    package let mixing: Mixing
    private static let time = (opaque: 5.0, translucent: 60.0)

    package init(_ color: Color, mixing: Mixing = .composite) {
        self.color = color
        // With an opaque color, all mixings are equal.
        self.mixing = color.alpha == 255 ? .composite : mixing
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: input.size, hasAlpha: input.hasAlpha && color.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { outputPixels }

    package func cost(of work: StepWork) -> StepCost {
        guard work.input.hasAlpha else { return .none }
        return StepCost(
            perFrame: Double(work.pixelsComputed) * (color.alpha == 255 ? Self.time.opaque : Self.time.translucent))
    }

    package var keyText: String { "background \(color.keyText)" + (mixing == .sum ? " sum" : "") }

    package var summary: String {
        "put \(color.summary) behind transparent parts" + (mixing == .sum ? ", colors added" : "")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? { [("background", color.hexadecimal)] }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? { geometry }
}

/// Drops alpha; transparent pixels show their stored colors.
package struct OpaqueStep: RenderStep {
    package init() {}

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: input.size, hasAlpha: false) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { outputPixels }

    package func cost(of work: StepWork) -> StepCost { .none }

    package var keyText: String { "opaque" }

    package var summary: String { "drop transparency" }

    package func parameters(on size: PixelSize) -> [StepParameter]? { [] }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? { geometry }
}

/// Puts the mean color of the four corners, ignoring alpha, behind transparent parts.
///
/// Uses the corners of an animation's first frame.
package struct CornerBackgroundStep: RenderStep {
    package init() {}

    private static let defaultStep = BackgroundStep(.white)

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: input.size, hasAlpha: false) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        let cost = Self.defaultStep.cost(of: work)
        // All pixels before this step are computed once and stored.
        return StepCost(perFrame: cost.perFrame, bytes: 4 * work.input.size.area)
    }

    package var keyText: String { "background corners" }

    package var summary: String { "put the mean color of the corners behind transparent parts" }
}

extension Color {
    var backgroundParameter: [StepParameter] { alpha == 0 ? [] : [("background", hexadecimal)] }
}
