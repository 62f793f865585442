import Text

package struct OutlineStep: RenderStep {
    package enum Shape: Hashable, Sendable {
        /// Rounds corners; the radius in thousandths of a pixel is limited by the frame's sides, nil is the largest.
        case rounded(Int?)
        /// Rounds corners by ellipses with these half axes in thousandths of a pixel, limited by the frame's sides.
        case elliptic(across: Int, down: Int)
        /// The largest centered shape of this kind.
        case mask(ImageOperations.Mask)
        /// The shape enlarged to fill the frame; see ``FittedMask``.
        case fitted(ImageOperations.Mask)
    }

    package let shape: Shape
    package let color: Color
    private static let time = 18.0

    package init(_ shape: Shape, color: Color) {
        self.shape = shape
        self.color = color
    }

    package func outline(in size: PixelSize) -> Outline {
        switch shape {
        case .rounded(let radius): Outline(size, radius: radius.map { Double($0) / 1_000 } ?? .infinity)
        case .elliptic(let across, let down):
            Outline(size, across: Double(across) / 1_000, down: Double(down) / 1_000)
        case .mask(let mask): Outline(mask, in: size)
        case .fitted(let mask): FittedMask(mask, in: size).outline
        }
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: input.size, hasAlpha: input.hasAlpha || color.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String {
        switch shape {
        case .rounded(let radius): "radius \(radius.map(String.init) ?? "max") \(color.keyText)"
        case .elliptic(let across, let down): "radius \(across),\(down) \(color.keyText)"
        case .mask(let mask): "mask \(mask.rawValue) \(color.keyText)"
        case .fitted(let mask): "fitted \(mask.rawValue) \(color.keyText)"
        }
    }

    package var summary: String {
        let outside = ", \(color.summary) outside"
        switch shape {
        case .rounded(let radius):
            let length = radius.map { "\(Double($0) / 1_000) pixels" } ?? "half the shorter side"
            return "round the corners by \(length)" + outside
        case .elliptic(let across, let down):
            return "round the corners by \(across / 1_000) × \(down / 1_000) pixels" + outside
        case .mask(let mask), .fitted(let mask): return "cut out the shape \(mask.rawValue)" + outside
        }
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        func text(_ radius: Int) -> String { ((radius + 5) / 10).decimal(places: 2) }
        return switch shape {
        case .rounded(let radius): [("radius", radius.map(text) ?? "max")]
        case .elliptic(let across, let down): across == down ? [("radius", text(across))] : nil
        case .mask(let mask), .fitted(let mask): [("mask", mask.rawValue)]
        }
    }
}
