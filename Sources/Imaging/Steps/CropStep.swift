/// Crops to the part of `size` with its top left corner at `x`, `y`.
package struct CropStep: Hashable {
    package let x: Int
    package let y: Int
    package let size: PixelSize

    package init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }
}

extension CropStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { wanted }

    package func cost(of work: StepWork) -> StepCost { .none }

    package var keyText: String { "crop \(x),\(y) \(size.width)x\(size.height)" }

    package var words: String { "crop to \(size) pixels at \(x), \(y)" }

    /// A gravity with this position.
    package func parameters(on size: PixelSize) -> [StepParameter]? {
        func side(_ start: Int, _ slack: Int, _ names: (String, String)) -> String? {
            if slack == 0 || abs(2 * start - slack) <= 1 { return "" }
            return start == 0 ? names.0 : start == slack ? names.1 : nil
        }
        guard let down = side(y, size.height - self.size.height, ("top", "bottom")),
            let across = side(x, size.width - self.size.width, ("left", "right"))
        else { return nil }
        let name = [down, across].filter { !$0.isEmpty }.joined(separator: "-")
        return [("gravity", name.isEmpty ? "center" : name)]
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.extracted(left: x, top: y, width: size.width, height: size.height)
    }
}

extension CropStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        let (left, top, whole) = target.rectangle
        guard target.turn == .none, target.filters.isEmpty, x >= 0, y >= 0, x + size.width <= whole.width,
            y + size.height <= whole.height
        else {
            return nil
        }
        var next = target
        next.rectangle = (left + x, top + y, size)
        next.isWhole = false
        return next
    }
}
