extension Rendition {
    /// How to fit an image into a box.
    public enum Fit: String, Hashable, Sendable, CaseIterable {
        /// The largest size that fits into the box, keeping the aspect ratio.
        case inside
        /// The smallest size that covers the box, keeping the aspect ratio without cropping.
        case outside
        /// Covers the box and crops the excess.
        case cover
        /// Exactly the box, with the image inside and background around it.
        case contain
        /// Exactly the box, ignoring the aspect ratio.
        case fill
    }

    /// Sizes taken from a browser's client hints.
    public struct AutomaticSizes: OptionSet, Hashable, Sendable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The width at which the image is displayed: `w=auto`.
        public static let width = AutomaticSizes(rawValue: 1)
        /// The number of device pixels per CSS pixel: `dpr=auto`.
        public static let devicePixelRatio = AutomaticSizes(rawValue: 2)
    }

    /// A position on an image.
    public enum Place: String, Hashable, Sendable, CaseIterable {
        case center, top, right, bottom, left
        case topRight = "top-right"
        case bottomRight = "bottom-right"
        case bottomLeft = "bottom-left"
        case topLeft = "top-left"
    }

    /// The important part of an image.
    public enum Gravity: Hashable, Sendable {
        /// One of nine positions.
        case place(Place)
        /// The most salient part.
        case attention
        /// The part with the most information.
        case entropy
        /// The largest faces, with the fit `cover`; like ``attention`` if there are none.
        case face
        /// A point in fractions of width and height, 0 to 1, rounded to three decimals.
        case focal(x: Double, y: Double)

        var values: (name: String, x: Double?, y: Double?) {
            switch self {
            case .place(let place): (place.rawValue, nil, nil)
            case .attention, .entropy, .face: ("\(self)", nil, nil)
            case .focal(let x, let y): ("focal", x, y)
            }
        }
    }

    /// A color: hexadecimal digits without `#`, or a CSS name.
    public struct Color: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The color as sent to the service.
        public let text: String

        /// Creates a color such as `ff8800`, `f80`, `ff880080` or `orange`.
        public init(_ text: String) { self.text = text }

        /// Creates a color from a literal such as `"orange"`.
        public init(stringLiteral text: String) { self.text = text }

        /// Creates an sRGB color.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            text = (alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]).map { component in
                String(component >> 4, radix: 16) + String(component & 15, radix: 16)
            }.joined()
        }
    }

    /// A rectangle of the source, given by its top left corner and its size.
    public enum Crop: Hashable, Sendable {
        /// In pixels.
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// In fractions of the source's sides, 0 to 1, rounded to four decimals.
        case fractions(x: Double, y: Double, width: Double, height: Double)

        var text: String {
            switch self {
            case .pixels(let x, let y, let width, let height):
                [x, y, width, height].map(String.init).joined(separator: ",")
            case .fractions(let x, let y, let width, let height):
                // The point distinguishes a fraction from pixels.
                [x, y, width, height].map { decimal($0, places: 4) }.map { $0.contains(".") ? $0 : $0 + ".0" }
                    .joined(separator: ",")
            }
        }
    }

    /// The direction in which to mirror the image.
    public enum Flip: String, Hashable, Sendable, CaseIterable {
        /// Exchanges left and right.
        case horizontal = "h"
        /// Exchanges top and bottom.
        case vertical = "v"
        case both = "hv"
    }

    /// The metadata of the source that a result may keep.
    public enum Metadata: String, Hashable, Sendable, CaseIterable {
        /// The creator, credit line, copyright notice, usage terms, web statement and licensor.
        case rights
        /// The marks of AI-made images.
        case ai
    }

    /// The color gamut of the result.
    public enum Gamut: String, Hashable, Sendable, CaseIterable {
        case srgb
        /// The gamut of Display P3.
        case p3
        /// Display P3 if the source has colors outside sRGB, otherwise sRGB.
        case auto
    }

    /// The filter functions of CSS in percent; ``hue`` in degrees.
    public struct ColorFilters: Hashable, Sendable {
        /// 0 to 400; 100 is neutral.
        public var brightness, contrast, saturation: Int?
        /// The rotation of all hues in degrees.
        public var hue: Int?
        /// 0 to 100.
        public var grayscale, sepia, inversion: Int?

        /// Creates neutral filters.
        public init() {}
    }

    /// Distances from the edges in CSS pixels.
    public struct Margins: Hashable, Sendable {
        /// The distances, in CSS order.
        public var top, right, bottom, left: Int

        /// Creates equal distances on all sides.
        public init(_ all: Int) { self.init(top: all, right: all, bottom: all, left: all) }

        /// Creates distances for each side.
        public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            self.top = top
            self.right = right
            self.bottom = bottom
            self.left = left
        }

        var text: String { [top, right, bottom, left].map(String.init).joined(separator: ",") }
    }

    /// The radius of rounded corners.
    public enum Radius: Hashable, Sendable {
        /// In CSS pixels, limited by the image's sides.
        case pixels(Int)
        /// Half of the shorter side.
        case most

        var text: String {
            switch self {
            case .pixels(let pixels): String(pixels)
            case .most: "max"
            }
        }
    }

    /// A shape cut out of the center of the image.
    public enum Mask: String, Hashable, Sendable, CaseIterable {
        case circle, ellipse, square, triangle, pentagon, hexagon, star, heart
        case triangleDown = "triangle-180"
        case pentagonDown = "pentagon-180"
    }

    /// An output format.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// The best format in `Accept`, otherwise the source's format.
        case auto
        case jpeg, png, webp, avif, gif, jxl
    }

    /// The quality of the encoder.
    public enum Quality: Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The lowest quality without visible loss.
        case automatic
        /// 1 to 100.
        case value(Int)

        /// Creates a quality from a literal such as `80`.
        public init(integerLiteral value: Int) { self = .value(value) }

        var text: String {
            switch self {
            case .automatic: "auto"
            case .value(let value): String(value)
            }
        }
    }

    /// An image drawn over the result.
    public struct Watermark: Hashable, Sendable {
        /// A URL, `NAME:PATH` of a named origin, or a name in the settings file.
        public var source: String
        /// The position on the result.
        public var position: Place?
        /// The horizontal offset in CSS pixels: inward from an edge, to the right from the center.
        public var x: Int?
        /// The vertical offset in CSS pixels: inward from an edge, downward from the center.
        public var y: Int?
        /// The opacity in percent, 1 to 100.
        public var opacity: Int?
        /// The width as a fraction of the result's, 0.01 to 1, rounded to four decimals.
        public var scale: Double?
        /// Whether the watermark is tiled over the whole result.
        public var isTiled: Bool?

        /// Creates a watermark from a source.
        public init(_ source: String) { self.source = source }
    }
}
