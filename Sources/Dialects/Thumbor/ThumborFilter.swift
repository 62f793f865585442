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
