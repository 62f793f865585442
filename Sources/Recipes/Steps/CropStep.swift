package struct CropStep: RenderStep {
    package let x: Int
    package let y: Int
    package let size: PixelSize

    package init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    package init(
        to size: PixelSize, of whole: PixelSize, at gravity: Gravity,
        rounding rule: FloatingPointRoundingRule = .towardZero
    ) {
        let corner = whole.corner(of: size, at: gravity, rounding: rule)
        self.init(x: corner.x, y: corner.y, size: size)
    }

    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: size, hasAlpha: input.hasAlpha) }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { outputPixels }

    package func cost(of work: StepWork) -> StepCost { .none }

    package var keyText: String { "crop \(x),\(y) \(size.keyText)" }

    package var summary: String { "crop to \(size) pixels at \(x), \(y)" }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        func side(_ start: Int, slack: Int, names: (String, String)) -> String? {
            if slack == 0 || abs(2 * start - slack) <= 1 { return "" }
            return start == 0 ? names.0 : start == slack ? names.1 : nil
        }
        guard let down = side(y, slack: size.height - self.size.height, names: ("top", "bottom")),
            let across = side(x, slack: size.width - self.size.width, names: ("left", "right"))
        else { return nil }
        let name = [down, across].filter { !$0.isEmpty }.joined(separator: "-")
        return [("gravity", name.isEmpty ? "center" : name)]
    }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? {
        let whole = geometry.rectangle.size
        guard geometry.turn == .none, x >= 0, y >= 0, x + size.width <= whole.width, y + size.height <= whole.height
        else { return nil }
        var next = geometry
        next.rectangle = PixelRectangle(x: geometry.rectangle.x + x, y: geometry.rectangle.y + y, size: size)
        next.isWhole = false
        return next
    }
}
