/// A rectangle of whole pixels.
package struct PixelRectangle: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var size: PixelSize

    package init(x: Int = 0, y: Int = 0, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }
}
