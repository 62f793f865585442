/// A Gaussian blur, or its reverse: an unsharp mask of amount 1.
package struct GaussianStep: Hashable {
    /// What is done with the means.
    package enum Kind: String, Sendable {
        case blur, sharpen
    }

    /// What is done with the means.
    package let kind: Kind
    /// Standard deviation in hundred-thousandths of a pixel, above 0.
    package let sigma: Int

    /// Nanoseconds of one core for each pixel: of every frame, of each pixel of the standard deviation if weights are used, and with boxes;
    /// measured as ``TimePrice`` says.
    private static let time = (frame: 8.0, deviation: 2.0, boxes: 48.0)
    /// The standard deviation in pixels from which boxes are used.
    private static let leastBoxes = 8.0

    /// A step with the means of this standard deviation, in hundred-thousandths of a pixel.
    package init(_ kind: Kind, sigma: Int) {
        self.kind = kind
        self.sigma = sigma
    }

    private var deviation: Double { Double(sigma) / 100_000 }
    private var amount: Float { kind == .blur ? -1 : 1 }
}

extension GaussianStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        if deviation < Self.leastBoxes {
            return .filtering(work, time: Self.time.frame + Self.time.deviation * deviation, bytes: 4)
        }
        return .filtering(work, time: Self.time.frame + Self.time.boxes, bytes: 2 * 4 * 4)
    }

    package var keyText: String { "\(kind.rawValue) \(sigma)" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.contrasted(withMeanOf: deviation, amount: amount, token: context.token)
    }
}

extension GaussianStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        target.filtered(by: .gaussian(deviation: deviation, amount: amount))
    }
}
