extension Rendition {
    /// How an image is fitted into a box.
    public enum Fit: String, Hashable, Sendable, CaseIterable {
        /// The largest size that fits into the box; ratio kept.
        case inside
        /// The smallest size that covers the box; ratio kept, nothing cropped.
        case outside
        /// Covers the box; the rest is cropped.
        case cover
        /// Exactly the box: the image inside it, the rest background.
        case contain
        /// Exactly the box; ratio lost.
        case fill
    }

    /// Sizes that a browser tells by client hints.
    public struct AutomaticSizes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// The sizes of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The width at which the image is shown: `w=auto`.
        public static let width = AutomaticSizes(rawValue: 1)
        /// The device pixels per CSS pixel: `dpr=auto`.
        public static let devicePixelRatio = AutomaticSizes(rawValue: 2)
    }

    /// A place on an image.
    public enum Place: String, Hashable, Sendable, CaseIterable {
        case center, top, right, bottom, left
        case topRight = "top-right"
        case bottomRight = "bottom-right"
        case bottomLeft = "bottom-left"
        case topLeft = "top-left"
    }

    /// The part of an image that matters.
    public enum Gravity: Hashable, Sendable {
        /// One of nine places.
        case place(Place)
        /// The most salient part.
        case attention
        /// The part with the most information.
        case entropy
        /// A point in fractions of width and height, 0 to 1; three decimals count.
        case focal(x: Double, y: Double)

        var values: (name: String, x: Double?, y: Double?) {
            switch self {
            case .place(let place): (place.rawValue, nil, nil)
            case .attention: ("attention", nil, nil)
            case .entropy: ("entropy", nil, nil)
            case .focal(let x, let y): ("focal", x, y)
            }
        }
    }

    /// A color: hexadecimal digits without `#`, or a CSS name.
    public struct Color: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The color as the service reads it.
        public let text: String

        /// A color such as `ff8800`, `f80`, `ff880080` or `orange`.
        public init(_ text: String) { self.text = text }

        /// A color such as `"orange"`.
        public init(stringLiteral text: String) { self.text = text }

        /// An sRGB color.
        public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
            text = (alpha == 255 ? [red, green, blue] : [red, green, blue, alpha]).map { component in
                String(component >> 4, radix: 16) + String(component & 15, radix: 16)
            }.joined()
        }
    }

    /// A part of the source, given by its top left corner and its size.
    public enum Crop: Hashable, Sendable {
        /// In pixels.
        case pixels(x: Int, y: Int, width: Int, height: Int)
        /// In fractions of the source's sides, 0 to 1; four decimals count.
        case fractions(x: Double, y: Double, width: Double, height: Double)

        var text: String {
            switch self {
            case .pixels(let x, let y, let width, let height):
                [x, y, width, height].map(String.init).joined(separator: ",")
            case .fractions(let x, let y, let width, let height):
                // A point tells a fraction from pixels.
                [x, y, width, height].map { decimal($0, places: 4) }.map { $0.contains(".") ? $0 : $0 + ".0" }
                    .joined(separator: ",")
            }
        }
    }

    /// The sides that change places.
    public enum Flip: String, Hashable, Sendable, CaseIterable {
        /// Left and right.
        case horizontal = "h"
        /// Top and bottom.
        case vertical = "v"
        case both = "hv"
    }

    /// The colors that a result shows.
    public enum Gamut: String, Hashable, Sendable, CaseIterable {
        /// Those of sRGB.
        case srgb
        /// Those of Display P3.
        case p3
        /// Those of Display P3 if the source has colors outside of sRGB, else those of sRGB.
        case auto
    }

    /// The filter functions of CSS in per cent; ``hue`` in degrees.
    public struct ColorFilters: Hashable, Sendable {
        /// 0 to 400; 100 changes nothing.
        public var brightness: Int?
        /// 0 to 400; 100 changes nothing.
        public var contrast: Int?
        /// 0 to 400; 100 changes nothing.
        public var saturation: Int?
        /// The degrees by which all colors are turned.
        public var hue: Int?
        /// 0 to 100.
        public var grayscale: Int?
        /// 0 to 100.
        public var sepia: Int?
        /// 0 to 100.
        public var inversion: Int?

        /// Filters that change nothing.
        public init() {}
    }

    /// Distances from the edges in CSS pixels.
    public struct Margins: Hashable, Sendable {
        /// Distances in the order of CSS.
        public var top, right, bottom, left: Int

        /// The same distance on all sides.
        public init(_ all: Int) { self.init(top: all, right: all, bottom: all, left: all) }

        /// A distance for each side.
        public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }

        var text: String { [top, right, bottom, left].map(String.init).joined(separator: ",") }
    }

    /// The radius of rounded corners.
    public enum Radius: Hashable, Sendable {
        /// CSS pixels, as far as the image's sides allow.
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

    /// A shape that is cut out of the middle.
    public enum Mask: String, Hashable, Sendable, CaseIterable {
        case circle, ellipse, square, triangle, pentagon, hexagon, star, heart
        case triangleDown = "triangle-180"
        case pentagonDown = "pentagon-180"
    }

    /// A format of results.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// The best format that `Accept` names, else the source's own.
        case auto
        case jpeg, png, webp, avif, gif, jxl
    }

    /// The quality of an encoder.
    public enum Quality: Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The lowest quality that looks the same.
        case automatic
        /// 1 to 100.
        case value(Int)

        /// A quality such as `80`.
        public init(integerLiteral value: Int) { self = .value(value) }

        var text: String {
            switch self {
            case .automatic: "auto"
            case .value(let value): String(value)
            }
        }
    }

    /// An image that is laid over the result.
    public struct Watermark: Hashable, Sendable {
        /// A URL, `NAME:PATH` of a named origin, or a name of the settings file.
        public var source: String
        /// The place where it lies.
        public var position: Place?
        /// CSS pixels inwards from that place, to the right from the center.
        public var x: Int?
        /// CSS pixels inwards from that place, downwards from the center.
        public var y: Int?
        /// 1 to 100 per cent.
        public var opacity: Int?
        /// Its width as a fraction of the result's, 0.01 to 1; four decimals count.
        public var scale: Double?
        /// Whether it is repeated all over.
        public var isTiled: Bool?

        /// A watermark of this source.
        public init(_ source: String) { self.source = source }
    }
}
