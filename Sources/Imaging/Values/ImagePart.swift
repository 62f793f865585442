/// A rectangle of an image, in pixels of the whole image.
package struct ImagePart: Hashable, Sendable {
    /// Distance of the part's left edge from the image's.
    package let x: Int
    /// Distance of the part's top edge from the image's.
    package let y: Int
    /// Size of the part.
    package let size: PixelSize
    /// Size of the image.
    package let whole: PixelSize

    /// The part of `size` whose top left corner is at `x`, `y`.
    package init(x: Int, y: Int, size: PixelSize, of whole: PixelSize) {
        (self.x, self.y, self.size, self.whole) = (x, y, size, whole)
    }

    /// The whole image.
    package init(allOf whole: PixelSize) {
        self.init(x: 0, y: 0, size: whole, of: whole)
    }

    /// Whether this is the whole image.
    package var isWhole: Bool { size == whole }

    /// This part with so many pixels more at each side, as far as the whole reaches.
    package func grown(by pixels: Int) -> ImagePart {
        let (left, top) = (min(x, pixels), min(y, pixels))
        let size = PixelSize(
            width: left + min(size.width + pixels, whole.width - x),
            height: top + min(size.height + pixels, whole.height - y))
        return ImagePart(x: x - left, y: y - top, size: size, of: whole)
    }

    /// The part's edges on one side of an image whose `length` stands for `whole`.
    static func span(_ start: Int, _ count: Int, of whole: Int, in length: Double) -> (start: Double, length: Double) {
        let whole = Double(whole)
        return (Double(start) * length / whole, Double(count) * length / whole)
    }

    /// The nearest rectangle of whole pixels in the image reduced to `decoded`.
    func rounded(in decoded: PixelSize) -> (x: Int, y: Int, size: PixelSize) {
        func rounded(_ start: Int, _ count: Int, of whole: Int, in length: Int) -> (start: Int, count: Int) {
            let span = Self.span(start, count, of: whole, in: Double(length))
            let first = min(Int(span.start.rounded()), length - 1)
            return (first, max(1, min(Int((span.start + span.length).rounded()), length) - first))
        }
        let across = rounded(x, size.width, of: whole.width, in: decoded.width)
        let down = rounded(y, size.height, of: whole.height, in: decoded.height)
        return (across.start, down.start, PixelSize(width: across.count, height: down.count))
    }
}
