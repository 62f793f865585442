package import Imaging

/// A plain image that a client wants if the source fails.
package struct Placeholder: Hashable, Sendable {
    /// The color of all of it.
    package let color: Color
    /// Width and height in pixels.
    package let size: PixelSize
    /// The output format, or what to choose it by.
    package let format: FormatChoice

    /// An image of this size.
    package init(_ color: Color, size: PixelSize, format: FormatChoice) {
        (self.color, self.size, self.format) = (color, size, format)
    }

    /// An image that fills the box of `options`: a missing side equals the given one, 1×1 with neither.
    package init(_ color: Color, in options: RenderingOptions) {
        self.color = color
        format = options.format
        guard let side = options.width ?? options.height else {
            size = PixelSize(width: 1, height: 1)
            return
        }
        // CSS pixels times the device pixel ratio, rounded half up, never below 1.
        func devicePixels(_ side: Int) -> Int { max(1, (side * options.devicePixelRatio + 500) / 1_000) }
        size = PixelSize(
            width: devicePixels(options.width ?? side), height: devicePixels(options.height ?? side))
    }
}
