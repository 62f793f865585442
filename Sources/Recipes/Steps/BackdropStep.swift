/// Centers or offsets the image on a larger canvas filled from the image itself.
package struct BackdropStep: RenderStep {
    package enum Kind: Hashable, Sendable {
        /// The mean color of the first frame.
        case mean
        /// The image, stretched to the canvas and blurred; `sigma` is in hundred-thousandths of a pixel.
        case blurred(sigma: Int)
        case edges
        /// The image, mirrored repeatedly at its edges.
        case mirrored
    }

    package let kind: Kind
    package let size: PixelSize
    package let x: Int
    package let y: Int
    private static let time = (mean: 5.0, blurred: 66.0, alpha: 46.0)

    package init(_ kind: Kind, size: PixelSize, x: Int, y: Int) {
        self.kind = kind
        self.size = size
        self.x = x
        self.y = y
    }

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        switch kind {
        case .mean, .edges, .mirrored: return .filtering(work, time: Self.time.mean)
        case .blurred(let sigma):
            let blur = GaussianStep(.blur, sigma: sigma).cost(of: StepWork(input: work.output, output: work.output))
            let alpha = work.input.hasAlpha ? Self.time.alpha : 0
            let rest = StepCost.filtering(work, time: Self.time.blurred + alpha)
            return StepCost(perFrame: rest.perFrame + blur.perFrame, bytes: rest.bytes + blur.bytes)
        }
    }

    package var keyText: String {
        let kind =
            switch kind {
            case .mean: "mean"
            case .blurred(let sigma): "blurred \(sigma)"
            case .edges: "edges"
            case .mirrored: "mirrored"
            }
        return "backdrop \(kind) \(size.keyText) \(x),\(y)"
    }

    package var summary: String {
        let fill =
            switch kind {
            case .mean: "in the image's mean color"
            case .blurred: "that shows the image blurred"
            case .edges: "that extends the image's edges"
            case .mirrored: "that mirrors the image"
            }
        return "place on a canvas of \(size) pixels \(fill), at \(x), \(y)"
    }
}
