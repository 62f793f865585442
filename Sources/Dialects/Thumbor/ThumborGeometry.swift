import Recipes

struct ThumborGeometry: Hashable, Sendable {
    struct Trim: Hashable, Sendable {
        var tolerance = 1
        var isFromBottomRight = false
    }

    /// A length in pixels, or a fraction of a side in millionths.
    enum Length: Hashable, Sendable {
        case pixels(Int)
        case fraction(Int)
    }

    struct Crop: Hashable, Sendable {
        var left: Length
        var top: Length
        var right: Length
        var bottom: Length
    }

    struct FitIn: Hashable, Sendable {
        /// Whether the box is turned if this makes the image larger.
        var isAdaptive = false
        var isFull = false
    }

    enum Side: Hashable, Sendable {
        case automatic
        case pixels(Int)
        case original
        /// The side of the image below minus `less` pixels; valid for layers only.
        case parent(less: Int)
    }

    enum Alignment: Hashable, Sendable {
        case start, middle, end
    }

    struct Focus: Hashable, Sendable {
        var left: Int
        var top: Int
        var right: Int
        var bottom: Int
        var isFraction: Bool
    }

    struct Padding: Hashable, Sendable {
        var left = 0
        var top = 0
        var right = 0
        var bottom = 0
    }

    var trim: Trim?
    var crop: Crop?
    var fitIn: FitIn?
    var isStretched = false
    var width = Side.automatic
    var height = Side.automatic
    var isMirroredAcross = false
    var isMirroredDown = false
    var padding: Padding?
    var across = Alignment.middle
    var down = Alignment.middle
    var isSmart = false
    var focuses: [Focus] = []
    /// Whether the box must not exceed the image.
    var isEnlargingForbidden = false
    /// Quarter turns clockwise, applied first.
    var quarters = 0

    func with(_ filters: ThumborGeometry) -> ThumborGeometry {
        var all = self
        all.isStretched = isStretched || filters.isStretched
        all.focuses = filters.focuses
        all.isEnlargingForbidden = filters.isEnlargingForbidden
        all.quarters = filters.quarters
        if trim == nil { all.trim = filters.trim }
        return all
    }

    var turn: QuarterTurn { QuarterTurn(quarters: quarters) }

    var mirror: QuarterTurn { (isMirroredAcross ? QuarterTurn.mirrorX : .none).then(isMirroredDown ? .mirrorY : .none) }
}
