/// Width and height in pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    /// A size of this width and height.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Number of pixels; saturates instead of overflowing.
    package var area: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// `300×225`.
    package var description: String { "\(width)×\(height)" }
}
