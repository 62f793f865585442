import Recipes

struct ThumborOptions: Hashable, Sendable {
    var geometry = ThumborGeometry()
    var isDebug = false
    var isRaw = false
    var format: ImageFormat?
    /// The format for animations if ``format`` does not support them.
    var fallback: ImageFormat?
    var quality: Int?
    var isLossless = false
    var maximumBytes: Int?
    var replacesPNG = false
    var stripsProfile = false
    var frames: Int?
    var page = 0
    /// Dots per inch for rendering drawings; their natural size is at 72.
    var resolution: Int?
    var filters: [ThumborFilter] = []
}

enum ThumborFilter: Hashable, Sendable {
    case upscale
    /// A factor in millionths, up to ten million.
    case proportion(Int)
    case fill(Paint, isBehind: Bool)
    case background(Color)
    /// Fills transparent parts with the color of the top left pixel.
    case cornerBackground
    case color(ColorFormula)
    case histogram(HistogramStep)
    case convolution(ConvolutionStep)
    case gaussian(GaussianStep)
    case mosaic(Int)
    case turn(QuarterTurn)
    /// Rounds the corners: half axes in pixels, and the color outside.
    case corners(across: Int, down: Int, Color)
    case padding(Color, ThumborGeometry.Padding)
    case crop(
        x: ThumborGeometry.Length, y: ThumborGeometry.Length, width: ThumborGeometry.Length,
        height: ThumborGeometry.Length)
    case mark(ThumborMark)

    enum Paint: Hashable, Sendable {
        case color(Color)
        case mean
        case blurred
    }
}

struct ThumborMark: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        case source(Int)
        case color(Color)
    }

    struct Position: Hashable, Sendable {
        /// The edge or point from which distances are measured.
        enum Anchor: Hashable, Sendable {
            case start, end, center
            case repeated
        }

        enum Unit: Hashable, Sendable {
            case pixels, percent, millionths
        }

        var anchor = Anchor.start
        var distance = 0
        var unit = Unit.pixels
        /// Only imagor supports this form.
        var isImagorOnly = false
    }

    var subject: Subject
    /// The geometry in the path of a layer; nil for a watermark.
    var layer: ThumborGeometry?
    /// Marks on this layer, from the filters in its path.
    var inner: [ThumborMark] = []
    var x = Position()
    var y = Position()
    var opacity = 100
    var mode = BlendMode.normal
    /// The width in percent of the image's width; nil if it follows from the height, or is the mark's own.
    var widthShare: Int?
    var heightShare: Int?

    /// Whether the mark is drawn once and without a blend mode, so that it can carry marks or lie on a layer.
    var isPlain: Bool { mode == .normal && x.anchor != .repeated && y.anchor != .repeated }
}
