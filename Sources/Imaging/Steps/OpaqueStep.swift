/// Drops transparency without a background: the colours of transparent pixels appear as they are stored.
package struct OpaqueStep: Hashable {
    /// A step that drops transparency.
    package init() {}
}

extension OpaqueStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: input.size, hasAlpha: false) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }

    package func cost(of work: StepWork) -> StepCost { .none }

    package var keyText: String { "opaque" }

    package var words: String { "drop transparency" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage { try image.opaque() }
}

extension OpaqueStep: PlanarStep {
    /// Planes are opaque.
    func target(after target: PlanarTarget) -> PlanarTarget? { target }
}
