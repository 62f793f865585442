/// The native operations in the units of the request; docs/operations.md defines them and their order.
package struct ImageOperations: Hashable, Sendable {
    package var trim: Trim?
    package var crop: Crop?
    package var flip: Flip?
    /// The rotation in degrees clockwise, 0…359.
    package var rotation = 0
    package var numbers = OperationNumbers()
    /// Margins around the finished box, in CSS pixels.
    package var pad = Margins()
    package var radius = Radius.pixels(0)
    package var mask: Mask?

    package init() {}

    package subscript(parameter: OperationParameter) -> Int {
        get { numbers[parameter] }
        set { numbers[parameter] = newValue }
    }

    package struct Trim: Hashable, Sendable {
        package var tolerance: Int
        /// The color of the border; nil uses a corner pixel's.
        package var color: Color?
        /// The color behind transparent parts, in an image of 3×3 medians, so that single pixels are ignored.
        ///
        /// Nil compares each pixel, including alpha.
        package var matte: Color?
        /// Whether to trim the left and right edges equally, by the narrower border.
        package var isEqualAcross = false
        /// Whether to trim the top and bottom edges equally, by the narrower border.
        package var isEqualDown = false
        /// Whether ``tolerance`` limits the distance of colors or the difference of each component.
        package var isDistance = false
        package var isFromBottomRight = false

        package init(tolerance: Int, color: Color? = nil) {
            self.tolerance = tolerance
            self.color = color
        }
    }

    package enum Crop: Hashable, Sendable {
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// Fractions of the image's sides in ten-thousandths, 0…10000.
        case fractions(x: Int, y: Int, width: Int, height: Int)
    }

    package enum Flip: String, Hashable, Sendable, CaseIterable {
        case horizontal = "h"
        case vertical = "v"
        case both = "hv"
    }

    package struct Margins: Hashable, Sendable {
        package var top: Int
        package var right: Int
        package var bottom: Int
        package var left: Int

        package init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            self.top = top
            self.right = right
            self.bottom = bottom
            self.left = left
        }

        /// How margins continue the image.
        package enum Extend: String, Hashable, Sendable, CaseIterable {
            case copy
            case `repeat`
            case mirror
        }

        package func around(_ size: PixelSize) -> PixelSize {
            PixelSize(width: left + size.width + right, height: top + size.height + bottom)
        }
    }

    package enum Radius: Hashable, Sendable {
        /// A radius in CSS pixels, limited by the image's sides.
        case pixels(Int)
        /// A radius of half of the shorter side.
        case maximum
    }

    package enum Mask: String, Hashable, Sendable, CaseIterable {
        case circle, ellipse, triangle
        case triangleDown = "triangle-180"
        case pentagon
        case pentagonDown = "pentagon-180"
        case hexagon, square, star, heart
    }
}

/// Converts CSS pixels to device pixels by a ratio in thousandths; rounds half up.
func devicePixels(_ length: Int, ratio: Int) -> Int { (length * ratio + 500) / 1_000 }
