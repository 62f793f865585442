package struct DrawnRegion: Hashable, Sendable {
    package let region: ImageRegion
    package let scaledSize: PixelSize
    /// Columns of the scaled region to the left of the rectangle.
    package let x: Int
    /// Rows of the scaled region above the rectangle.
    package let y: Int

    package init(of region: ImageRegion, scaledTo scaledSize: PixelSize, x: Int = 0, y: Int = 0) {
        self.region = region
        self.scaledSize = scaledSize
        self.x = x
        self.y = y
    }

    /// The size of the whole drawing, rounded up; saturates.
    var wholeSize: PixelSize {
        func side(_ whole: Int, _ scaled: Int, of length: Int) -> Int {
            let (product, overflow) = whole.multipliedReportingOverflow(by: scaled)
            return overflow ? .max : product / length + (product % length > 0 ? 1 : 0)
        }
        return PixelSize(
            width: side(region.whole.width, scaledSize.width, of: region.size.width),
            height: side(region.whole.height, scaledSize.height, of: region.size.height))
    }

    /// Returns the rectangle of the region in units of a whole image of `width` × `height`.
    package func rectangle(
        _ size: PixelSize, in width: Double, _ height: Double
    ) -> (x: Double, y: Double, width: Double, height: Double) {
        let across = width / Double(region.whole.width) * Double(region.size.width) / Double(scaledSize.width)
        let down = height / Double(region.whole.height) * Double(region.size.height) / Double(scaledSize.height)
        return (
            width * Double(region.x) / Double(region.whole.width) + Double(x) * across,
            height * Double(region.y) / Double(region.whole.height) + Double(y) * down,
            Double(size.width) * across, Double(size.height) * down
        )
    }

    var keyText: String {
        "\(x),\(y) of \(region.x),\(region.y) \(region.size.keyText) in \(region.whole.keyText) as \(scaledSize.keyText)"
    }
}
