/// A colour behind transparent parts.
package struct BackgroundStep: Hashable {
    /// How the colours of transparent pixels are mixed with a colour that is not opaque.
    package enum Mixing: Hashable, Sendable {
        /// Each by its opacity.
        case composite
        /// The image's own in full, as weserv/images does it: the colours that a file keeps in transparent pixels shine
        /// through.
        case sum
    }

    /// The colour; if it is not opaque, the image stays partly transparent.
    package let color: Color
    /// How it is mixed with transparent pixels.
    package let mixing: Mixing

    /// Nanoseconds of one core for each pixel with alpha, on an opaque colour and on a translucent one; measured as
    /// ``TimePrice`` says.
    private static let time = (opaque: 5.0, translucent: 60.0)

    /// A step that lays images on `color`.
    package init(_ color: Color, mixing: Mixing = .composite) {
        self.color = color
        // An opaque colour leaves nothing to mix.
        self.mixing = color.alpha == 255 ? .composite : mixing
    }
}

extension BackgroundStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: input.size, hasAlpha: input.hasAlpha && color.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }

    package func cost(of work: StepWork) -> StepCost {
        guard work.input.hasAlpha else { return .none }
        return StepCost(perFrame: Double(work.made) * (color.alpha == 255 ? Self.time.opaque : Self.time.translucent))
    }

    package var keyText: String { "background \(color.keyText)" + (mixing == .sum ? " sum" : "") }

    package var words: String {
        "put \(color.words) behind transparent parts" + (mixing == .sum ? ", colours added" : "")
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        guard image.hasAlpha else { return image }
        if color.alpha == 255 { return try image.flattenedInColor(on: color) }
        return try image.inColor().composited(over: color, isPremultiplied: mixing == .sum)
    }
}

extension BackgroundStep: PlanarStep {
    /// Planes are opaque: a background is not visible.
    func target(after target: PlanarTarget) -> PlanarTarget? { target }
}
