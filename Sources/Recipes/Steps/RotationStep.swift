import Glibc

/// Rotates the image onto the smallest frame that contains all of it.
package struct RotationStep: RenderStep {
    /// Degrees clockwise, 1…359.
    package let degrees: Int
    /// The color of the corners; transparent parts of the image stay transparent.
    package let corners: Color

    private static let time = 40.0
    /// Four floating-point components.
    private static let pixelBytes = 16

    package init(degrees: Int, corners: Color = .transparent) {
        self.degrees = degrees
        self.corners = corners
    }

    package func size(after input: PixelSize) -> PixelSize {
        let angle = Double(degrees) * .pi / 180
        let cosine = abs(cos(angle))
        let sine = abs(sin(angle))
        func side(_ along: Int, _ across: Int) -> Int {
            max(1, Int((Double(along) * cosine + Double(across) * sine + 0.5).rounded(.down)))
        }
        return PixelSize(width: side(input.width, input.height), height: side(input.height, input.width))
    }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: size(after: input.size), hasAlpha: input.hasAlpha || corners.alpha < 255)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time, bytes: Self.pixelBytes) }

    package var keyText: String { "rotate \(degrees)" + (corners == .transparent ? "" : " \(corners.keyText)") }

    package var summary: String {
        "rotate by \(degrees)°" + (corners == .transparent ? "" : ", corners in \(corners.summary)")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        [("rotate", String(degrees))] + corners.backgroundParameter
    }
}
