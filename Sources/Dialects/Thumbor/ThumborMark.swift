import Recipes

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
