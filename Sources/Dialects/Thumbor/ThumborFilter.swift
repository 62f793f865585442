import Imaging

/// The options of a target: the geometry before the filters, and all that filters set.
struct ThumborOptions: Hashable, Sendable {
    /// The geometry that the target asks for before the filters, and what filters add to it.
    var geometry = ThumborGeometry()
    /// Whether the image keeps its size.
    var isDebug = false
    /// Whether nothing is done but encoding.
    var isRaw = false
    /// The format that is asked for; nil if none is.
    var format: ImageFormat?
    /// The format of animations that ``format`` cannot hold.
    var fallback: ImageFormat?
    /// The quality; nil if none is asked for.
    var quality: Int?
    /// Most bytes of the file.
    var maximumBytes: Int?
    /// Whether opaque PNG images become JPEG.
    var replacesPNG = false
    /// Whether colors become those of sRGB, and not those that the source has.
    var stripsProfile = false
    /// Most frames; nil for all.
    var frames: Int?
    /// The page, from 0.
    var page = 0
    /// Dots per inch of drawings, 72 being their natural size.
    var resolution: Int?
    /// The filters that change pixels, in their order.
    var filters: [ThumborFilter] = []
}

/// A filter that changes pixels.
enum ThumborFilter: Hashable, Sendable {
    /// Enlarges the image until it fits into the box.
    case upscale
    /// Scales the image by a factor in millionths, up to ten million.
    case proportion(Int)
    /// Lays the image on a canvas of the size of the box.
    case fill(Paint, isBehind: Bool)
    /// A color behind transparent parts.
    case background(Color)
    /// The color of the top left pixel behind transparent parts.
    case cornerBackground
    case color(ColorFormula)
    case histogram(HistogramStep)
    case convolution(ConvolutionStep)
    /// A Gaussian step with a standard deviation in hundred-thousandths of a pixel.
    case gaussian(GaussianStep)
    case mosaic(Int)
    /// Quarter turns, as the EXIF orientation that they make upright.
    case turn(QuarterTurn)
    /// Corners rounded by half axes in pixels; what lies outside.
    case corners(across: Int, down: Int, Color)
    /// Margins around the image.
    case padding(Color, ThumborGeometry.Padding)
    /// A part of the result.
    case crop(
        x: ThumborGeometry.Length, y: ThumborGeometry.Length, width: ThumborGeometry.Length,
        height: ThumborGeometry.Length)
    case mark(ThumborMark)

    /// The content of a canvas.
    enum Paint: Hashable, Sendable {
        case color(Color)
        /// The mean color of the image.
        case mean
        /// The image itself, blurred.
        case blurred
    }
}

/// Something that a filter lays on the image.
struct ThumborMark: Hashable, Sendable {
    /// The image or color that the mark lays.
    enum Subject: Hashable, Sendable {
        /// An additional source, by its index.
        case source(Int)
        case color(Color)
    }

    /// A place along one axis.
    struct Position: Hashable, Sendable {
        /// Where distances are measured from.
        enum Anchor: Hashable, Sendable {
            case near, far, center
            /// As many whole copies as there is room for.
            case repeated
        }

        /// The unit of a distance.
        enum Unit: Hashable, Sendable {
            case pixels, percent, millionths
        }

        var anchor = Anchor.near
        /// The distance to the right or down.
        var distance = 0
        var unit = Unit.pixels
        /// Whether only imagor has this form of a place.
        var isOfImagor = false
    }

    var subject: Subject
    /// The options of a layer's own path; nil for a watermark.
    var layer: ThumborGeometry?
    /// The marks that the filters of a layer's own path lay on it.
    var inner: [ThumborMark] = []
    var x = Position()
    var y = Position()
    /// Opacity in per cent, 1…100.
    var opacity = 100
    var mode = BlendMode.normal
    /// The largest size in per cent of the image's sides; nil if the other side gives it, or for the mark's own size.
    var widthShare: Int?
    var heightShare: Int?

    /// Whether marks can lie on it, or it on a layer: it covers what is below, once, and mixes no colors.
    var isPlain: Bool { mode == .normal && x.anchor != .repeated && y.anchor != .repeated }
}
