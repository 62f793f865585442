package struct DrawnPart: Hashable, Sendable {
    package let part: ImagePart
    package let scaledSize: PixelSize
    /// Columns of the scaled part to the left of the rectangle.
    package let x: Int
    /// Rows of the scaled part above the rectangle.
    package let y: Int

    package init(of part: ImagePart, scaledTo scaledSize: PixelSize, x: Int = 0, y: Int = 0) {
        self.part = part
        self.scaledSize = scaledSize
        self.x = x
        self.y = y
    }

    /// The size of the whole drawing, rounded up; saturates.
    var wholeSize: PixelSize {
        func side(_ whole: Int, _ scaled: Int, of part: Int) -> Int {
            let (product, overflow) = whole.multipliedReportingOverflow(by: scaled)
            return overflow ? .max : product / part + (product % part > 0 ? 1 : 0)
        }
        return PixelSize(
            width: side(part.whole.width, scaledSize.width, of: part.size.width),
            height: side(part.whole.height, scaledSize.height, of: part.size.height))
    }

    /// The rectangle of the part in units of a whole image of `width` × `height`.
    package func rectangle(
        _ size: PixelSize, in width: Double, _ height: Double
    ) -> (x: Double, y: Double, width: Double, height: Double) {
        let across = width / Double(part.whole.width) * Double(part.size.width) / Double(scaledSize.width)
        let down = height / Double(part.whole.height) * Double(part.size.height) / Double(scaledSize.height)
        return (
            width * Double(part.x) / Double(part.whole.width) + Double(x) * across,
            height * Double(part.y) / Double(part.whole.height) + Double(y) * down,
            Double(size.width) * across, Double(size.height) * down
        )
    }

    var keyText: String {
        func text(_ size: PixelSize) -> String { "\(size.width)x\(size.height)" }
        return "\(x),\(y) of \(part.x),\(part.y) \(text(part.size)) in \(text(part.whole)) as \(text(scaledSize))"
    }
}
