import Coordination
import Memory

/// Centers or offsets the image on a larger canvas filled from the image itself.
package struct BackdropStep: Hashable {
    package enum Kind: Hashable, Sendable {
        /// The mean color of the image; of the first frame of an animation.
        case mean
        /// The image stretched to the canvas and blurred with this standard deviation, in hundred-thousandths of a
        /// pixel.
        case blurred(sigma: Int)
        case edges
        /// The image, mirrored repeatedly at its edges.
        case mirrored
    }

    package let kind: Kind
    package let size: PixelSize
    package let x: Int
    package let y: Int

    /// Nanoseconds per canvas pixel, without the blur, and the surcharge for alpha; see ``TimeCost``.
    private static let time = (mean: 5.0, blurred: 66.0, alpha: 46.0)

    package init(_ kind: Kind, size: PixelSize, x: Int, y: Int) {
        self.kind = kind
        self.size = size
        self.x = x
        self.y = y
    }
}

extension BackdropStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

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
        return "backdrop \(kind) \(size.width)x\(size.height) \(x),\(y)"
    }

    package var words: String {
        switch kind {
        case .mean: "lay on a canvas of \(size) pixels in the image's mean color, at \(x), \(y)"
        case .blurred: "lay on a canvas of \(size) pixels that shows the image blurred, at \(x), \(y)"
        case .edges: "lay on a canvas of \(size) pixels that goes on as the image's edges, at \(x), \(y)"
        case .mirrored: "lay on a canvas of \(size) pixels that goes on as the image mirrored, at \(x), \(y)"
        }
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let token = context.token
        image.watch(token)
        let image = try image.computed()
        try token.check()
        switch kind {
        case .edges, .mirrored:
            return try image.extended(kind == .mirrored ? .mirror : .copy, left: x, top: y, to: size)
        case .mean:
            let color = try context.decided { try image.meanColor(token: token) }
            return try CanvasStep(size: size, x: x, y: y, color: color).applied(to: image, in: &context)
        case .blurred(let sigma):
            let own = PixelSize(width: image.width, height: image.height)
            let backdrop = try image.resampled(to: size, in: .gamma)
                .contrasted(withMeanOf: Double(sigma) / 100_000, amount: -1, token: token)
            let stamp = try image.withAlpha()
            let pixels = try stamp.pixels(token: token)
            // The pixels live until the end of this scope.
            return try unsafe pixels.withUnsafeBytes { bytes throws in
                try unsafe backdrop.overlaid(
                    with: bytes, size: own, bands: stamp.bands, left: x, top: y, covering: own, opacity: 100
                ).computed()
            }
        }
    }
}

extension VipsImage {
    fileprivate func meanColor(token: WorkToken) throws -> Color {
        let pixel = try inColor().flattened(on: .white)
            .resampled(to: PixelSize(width: 1, height: 1), in: .gamma).pixels(token: token).array
        return Color(red: pixel[0], green: pixel[1], blue: pixel[2])
    }
}
