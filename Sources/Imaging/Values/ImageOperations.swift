/// The operations that a caller orders besides fitting an image into a box, in the caller's own units.
///
/// The defaults change nothing. docs/operations.md has the exact meaning of each, and their order.
package struct ImageOperations: Hashable, Sendable {
    /// The border that is cut off; nil for none.
    package var trim: Trim?
    /// The part that is kept, of the trimmed image; nil for all of it.
    package var crop: Crop?
    /// The mirroring before the rotation; nil for none.
    package var flip: Flip?
    /// Degrees clockwise, 0…359.
    package var rotation = 0
    /// The changes of the colors.
    package var colors = ColorFilters()
    /// Standard deviation of the blur in hundredths of a CSS pixel; 0 for none.
    package var blur = 0
    /// Standard deviation of the unsharp mask in hundredths of a CSS pixel; 0 for none.
    package var sharpen = 0
    /// Side of the blocks that become one color, in CSS pixels; 1 for none.
    package var pixelate = 1
    /// Margins around the finished box, in CSS pixels.
    package var pad = Margins()
    /// The radius of rounded corners.
    package var radius = Radius.pixels(0)
    /// The shape that is cut out; nil for all of the image.
    package var mask: Mask?

    /// Operations that change nothing.
    package init() {}

    /// Borders of one color.
    package struct Trim: Hashable, Sendable {
        /// Largest difference from the color in each component, 1…255.
        package var tolerance: Int
        /// The border's color; nil for that of the pixel in a corner.
        package var color: Color?
        /// The color behind transparent parts if medians of 3×3 pixels are compared, so that single pixels count for
        /// nothing; nil if each pixel is compared, alpha included.
        package var matte: Color?
        /// Whether as much is cut off at the left as at the right.
        package var isEqualAcross = false
        /// Whether as much is cut off at the top as at the bottom.
        package var isEqualDown = false
        /// Whether ``tolerance`` bounds the distance from the color, and not the difference in each component.
        package var isDistance = false
        /// Whether the corner is the bottom right one, and not the top left one.
        package var isFromBottomRight = false

        /// Borders that differ from `color` by `tolerance` at most.
        package init(tolerance: Int, color: Color? = nil) {
            self.tolerance = tolerance
            self.color = color
        }
    }

    /// A part of the image, given by its top left corner and its size.
    package enum Crop: Hashable, Sendable {
        /// In pixels.
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// In ten-thousandths of the image's sides, 0…10000.
        case fractions(x: Int, y: Int, width: Int, height: Int)
    }

    /// The sides that change places.
    package enum Flip: String, Hashable, Sendable, CaseIterable {
        /// Left and right.
        case horizontal = "h"
        /// Top and bottom.
        case vertical = "v"
        case both = "hv"
    }

    /// Distances from the edges.
    package struct Margins: Hashable, Sendable {
        package var top: Int
        package var right: Int
        package var bottom: Int
        package var left: Int

        /// Margins of these sizes.
        package init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }

        /// The pixels of margins that are made of the image's own.
        package enum Pixels: String, Hashable, Sendable, CaseIterable {
            /// The outermost ones.
            case copy
            /// The image again.
            case `repeat`
            /// The image mirrored.
            case mirror
        }

        /// The size of an image of `size` with these margins around it.
        func around(_ size: PixelSize) -> PixelSize {
            PixelSize(width: left + size.width + right, height: top + size.height + bottom)
        }
    }

    /// The radius of rounded corners.
    package enum Radius: Hashable, Sendable {
        /// CSS pixels, as far as the image's sides allow.
        case pixels(Int)
        /// Half of the shorter side.
        case most
    }

    /// A shape that is cut out of the middle.
    package enum Mask: String, Hashable, Sendable, CaseIterable {
        case circle, ellipse, triangle
        case triangleDown = "triangle-180"
        case pentagon
        case pentagonDown = "pentagon-180"
        case hexagon, square, star, heart
    }
}

/// The filter functions of CSS Filter Effects 1, in percent, in the order in which they are applied.
package struct ColorFilters: Hashable, Sendable {
    /// 0…400; 100 changes nothing.
    package var brightness = 100
    /// 0…400; 100 changes nothing.
    package var contrast = 100
    /// 0…400; 100 changes nothing.
    package var saturation = 100
    /// Degrees, 0…359.
    package var hue = 0
    /// Per cent, 0…100.
    package var grayscale = 0
    /// Per cent, 0…100.
    package var sepia = 0
    /// Per cent, 0…100.
    package var inversion = 0

    /// Filters that change nothing.
    package init() {}
}
