/// The requested operations besides fitting an image into a box, in the request's units.
///
/// The defaults change nothing. docs/operations.md defines each operation, and their order.
package struct ImageOperations: Hashable, Sendable {
    /// The border to remove; nil for none.
    package var trim: Trim?
    /// The part to keep of the trimmed image; nil for all of it.
    package var crop: Crop?
    /// The mirroring before the rotation; nil for none.
    package var flip: Flip?
    /// Degrees clockwise, 0…359.
    package var rotation = 0
    /// The values of the parameters in ``Operations``.
    package var numbers = OperationNumbers()
    /// Margins around the finished box, in CSS pixels.
    package var pad = Margins()
    package var radius = Radius.pixels(0)
    /// The shape to cut out; nil for the whole image.
    package var mask: Mask?

    package init() {}

    package subscript(parameter: OperationParameter) -> Int {
        get { numbers[parameter] }
        set { numbers[parameter] = newValue }
    }

    package struct Trim: Hashable, Sendable {
        /// Maximum difference from the color in each component, 1…255.
        package var tolerance: Int
        /// The border's color; nil for the color of a corner pixel.
        package var color: Color?
        /// The color behind transparent parts if medians of 3×3 pixels are compared, so that single pixels do not
        /// count; nil if each pixel is compared, including alpha.
        package var matte: Color?
        /// Whether left and right borders are reduced to the narrower one.
        package var isEqualAcross = false
        /// Whether top and bottom borders are reduced to the narrower one.
        package var isEqualDown = false
        /// Whether ``tolerance`` limits the distance from the color rather than the difference in each component.
        package var isDistance = false
        /// Whether the color is from the bottom right corner rather than the top left one.
        package var isFromBottomRight = false

        package init(tolerance: Int, color: Color? = nil) {
            self.tolerance = tolerance
            self.color = color
        }
    }

    package enum Crop: Hashable, Sendable {
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// In ten-thousandths of the image's sides, 0…10000.
        case fractions(x: Int, y: Int, width: Int, height: Int)
    }

    package enum Flip: String, Hashable, Sendable, CaseIterable {
        /// Swaps left and right.
        case horizontal = "h"
        /// Swaps top and bottom.
        case vertical = "v"
        case both = "hv"
    }

    package struct Margins: Hashable, Sendable {
        package var top: Int
        package var right: Int
        package var bottom: Int
        package var left: Int

        package init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }

        /// The content of margins filled from the image.
        package enum Pixels: String, Hashable, Sendable, CaseIterable {
            case copy
            case `repeat`
            case mirror
        }

        package func around(_ size: PixelSize) -> PixelSize {
            PixelSize(width: left + size.width + right, height: top + size.height + bottom)
        }
    }

    package enum Radius: Hashable, Sendable {
        /// CSS pixels, limited by the image's sides.
        case pixels(Int)
        /// Half of the shorter side.
        case most
    }

    /// A centered shape to cut out.
    package enum Mask: String, Hashable, Sendable, CaseIterable {
        case circle, ellipse, triangle
        case triangleDown = "triangle-180"
        case pentagon
        case pentagonDown = "pentagon-180"
        case hexagon, square, star, heart
    }
}

/// Converts CSS pixels by a ratio in thousandths, rounding half up.
func devicePixels(_ length: Int, _ ratio: Int) -> Int { (length * ratio + 500) / 1_000 }
