import Recipes

struct ThumborOptions: Hashable, Sendable {
    var geometry = ThumborGeometry()
    /// Whether the image keeps its size.
    var isDebug = false
    var isRaw = false
    var format: ImageFormat?
    /// The format of animations that ``format`` does not support.
    var fallback: ImageFormat?
    var quality: Int?
    var maximumBytes: Int?
    var replacesPNG = false
    var stripsProfile = false
    var frames: Int?
    /// The page, from 0.
    var page = 0
    /// Dots per inch of drawings, whose natural size is at 72.
    var resolution: Int?
    var filters: [ThumborFilter] = []
}

enum ThumborFilter: Hashable, Sendable {
    case upscale
    /// Scales the image by a factor in millionths, up to ten million.
    case proportion(Int)
    case fill(Paint, isBehind: Bool)
    case background(Color)
    /// The color of the top left pixel behind transparent parts.
    case cornerBackground
    case color(ColorFormula)
    case histogram(HistogramStep)
    case convolution(ConvolutionStep)
    case gaussian(GaussianStep)
    case mosaic(Int)
    case turn(QuarterTurn)
    /// Corners rounded by half axes in pixels; the color outside.
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
        /// The point from which distances are measured.
        enum Anchor: Hashable, Sendable {
            case near, far, center
            /// As many whole copies as fit.
            case repeated
        }

        enum Unit: Hashable, Sendable {
            case pixels, percent, millionths
        }

        var anchor = Anchor.near
        var distance = 0
        var unit = Unit.pixels
        /// Whether only imagor supports this form of a position.
        var isImagorOnly = false
    }

    var subject: Subject
    /// The options of a layer's own path; nil for a watermark.
    var layer: ThumborGeometry?
    /// The marks that the filters of a layer's own path overlay on it.
    var inner: [ThumborMark] = []
    var x = Position()
    var y = Position()
    /// Opacity in percent, 1…100.
    var opacity = 100
    var mode = BlendMode.normal
    /// The largest size in percent of the image's sides; nil if it follows from the other side, or for the mark's own
    /// size.
    var widthShare: Int?
    var heightShare: Int?

    /// Whether marks can be put on it, or it on a layer: it covers the image below, once, without mixing colors.
    var isPlain: Bool { mode == .normal && x.anchor != .repeated && y.anchor != .repeated }
}
