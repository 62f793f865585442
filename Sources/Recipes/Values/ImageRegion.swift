package struct ImageRegion: Hashable, Sendable {
    package let x: Int
    package let y: Int
    package let size: PixelSize
    package let whole: PixelSize

    package init(x: Int, y: Int, size: PixelSize, of whole: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
        self.whole = whole
    }

    package init(allOf whole: PixelSize) { self.init(x: 0, y: 0, size: whole, of: whole) }

    package var isWhole: Bool { size == whole }

    package func grown(by pixels: Int) -> ImageRegion {
        let left = min(x, pixels)
        let top = min(y, pixels)
        let size = PixelSize(
            width: left + min(size.width + pixels, whole.width - x),
            height: top + min(size.height + pixels, whole.height - y))
        return ImageRegion(x: x - left, y: y - top, size: size, of: whole)
    }

    package static func span(
        _ start: Int, count: Int, of whole: Int, in length: Double
    ) -> (start: Double, length: Double) {
        let whole = Double(whole)
        return (Double(start) * length / whole, Double(count) * length / whole)
    }

    /// Returns the region in whole pixels of an image that was reduced to `decoded`.
    package func rounded(in decoded: PixelSize) -> PixelRectangle {
        func rounded(_ start: Int, _ count: Int, of whole: Int, in length: Int) -> (start: Int, count: Int) {
            let span = Self.span(start, count: count, of: whole, in: Double(length))
            let first = min(Int(span.start.rounded()), length - 1)
            return (first, max(1, min(Int((span.start + span.length).rounded()), length) - first))
        }
        let across = rounded(x, size.width, of: whole.width, in: decoded.width)
        let down = rounded(y, size.height, of: whole.height, in: decoded.height)
        return PixelRectangle(x: across.start, y: down.start, size: PixelSize(width: across.count, height: down.count))
    }
}
