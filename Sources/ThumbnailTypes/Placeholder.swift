import Crypto
import HTTPTypes
package import Recipes
import Text

package struct Placeholder: Hashable, Sendable {
    package let color: Color
    package let size: PixelSize
    package let format: FormatChoice

    package init(_ color: Color, size: PixelSize, format: FormatChoice) {
        self.color = color
        self.size = size
        self.format = format
    }

    /// Creates a placeholder; a missing side equals the other one, and without either, the box is 1×1.
    package init(_ color: Color, in options: RenderingOptions) {
        self.color = color
        format = options.format
        guard let side = options.width ?? options.height else {
            size = PixelSize(width: 1, height: 1)
            return
        }
        // CSS pixels times the device pixel ratio, rounded half up, at least 1.
        func devicePixels(_ side: Int) -> Int { max(1, (side * options.devicePixelRatio + 500) / 1_000) }
        size = options.limited(
            PixelSize(width: devicePixels(options.width ?? side), height: devicePixels(options.height ?? side)))
    }
}
