import Recipes

struct ImgproxyGravity: Hashable, Sendable {
    enum Kind: String, Hashable, Sendable {
        case center = "ce"
        case north = "no"
        case east = "ea"
        case south = "so"
        case west = "we"
        case northWest = "nowe"
        case northEast = "noea"
        case southWest = "sowe"
        case southEast = "soea"
        case smart = "sm"
        /// The object to look for; only `face` is supported.
        case faces = "obj"
        /// A point in fractions of width and height.
        case focus = "fp"
        /// Repeats the watermark; valid for watermarks only.
        case tiles = "re"

        /// The side: -1 for left and top, 0 for the middle, 1 for right and bottom; nil for other kinds.
        fileprivate var sides: (x: Int, y: Int)? { Self.sides[self] }

        fileprivate init?(sides: (x: Int, y: Int)) {
            guard let kind = Self.sides.first(where: { $0.value == sides })?.key else { return nil }
            self = kind
        }

        private static let sides: [Kind: (x: Int, y: Int)] = [
            .northWest: (-1, -1), .north: (0, -1), .northEast: (1, -1), .west: (-1, 0), .center: (0, 0), .east: (1, 0),
            .southWest: (-1, 1), .south: (0, 1), .southEast: (1, 1),
        ]
    }

    var kind: Kind?
    /// The horizontal offset, inward from an edge or right of the center: pixels if at least 1, otherwise a fraction.
    ///
    /// For ``Kind/focus``, the position of the point.
    var x = 0.0
    /// The vertical offset, inward from an edge or down from the center, in the units of ``x``.
    var y = 0.0

    /// - Parameters:
    ///   - ratio: The device pixel ratio, which scales offsets in pixels.
    ///   - mayOverhang: Whether parts of `inner` may lie outside; at least one pixel stays inside.
    func corner(
        of inner: PixelSize, on outer: PixelSize, ratio: Double, mayOverhang: Bool = false
    ) -> (x: Int, y: Int) {
        func bounded(_ start: Int, inner: Int, outer: Int) -> Int {
            let (minimum, maximum) = mayOverhang ? (1 - inner, outer - 1) : (0, outer - inner)
            return max(minimum, min(start, maximum))
        }
        let sides = kind == .focus ? nil : (kind?.sides ?? (0, 0))
        let left = Self.start(inner.width, on: outer.width, at: sides?.x, offset: x, ratio: ratio)
        let top = Self.start(inner.height, on: outer.height, at: sides?.y, offset: y, ratio: ratio)
        return (
            bounded(left, inner: inner.width, outer: outer.width),
            bounded(top, inner: inner.height, outer: outer.height)
        )
    }

    private static func start(_ inner: Int, on outer: Int, at side: Int?, offset: Double, ratio: Double) -> Int {
        let distance = distance(offset, of: outer, ratio: ratio)
        return switch side {
        case -1: distance
        case 0: pixels(evenly: Double(outer - inner + 1) / 2) + distance
        case 1: outer - inner - distance
        default: pixels(evenly: Double(outer) * offset) - inner / 2
        }
    }

    /// Returns the offset in pixels; an offset below 1 is a fraction of `side`.
    static func distance(_ offset: Double, of side: Int, ratio: Double) -> Int {
        pixels(evenly: abs(offset) >= 1 ? offset * ratio : Double(side) * offset)
    }
}

extension ImgproxyGravity {
    /// Returns the gravity that applies before the image is turned by `quarters` clockwise and then mirrored.
    func before(quarters: Int, mirroringX: Bool, mirroringY: Bool) -> ImgproxyGravity {
        var gravity = self
        if mirroringX { gravity.mirrorX() }
        if mirroringY { gravity.mirrorY() }
        for _ in 0..<quarters { gravity.turnBack() }
        return gravity
    }

    private mutating func mirrorX() {
        guard let sides = (kind ?? .center).sides else { return changePoint { $0.x = 1 - $0.x } }
        if sides.x == 0 { x = -x } else { kind = Kind(sides: (-sides.x, sides.y)) }
    }

    private mutating func mirrorY() {
        guard let sides = (kind ?? .center).sides else { return changePoint { $0.y = 1 - $0.y } }
        if sides.y == 0 { y = -y } else { kind = Kind(sides: (sides.x, -sides.y)) }
    }

    private mutating func turnBack() {
        guard let sides = (kind ?? .center).sides else { return changePoint { ($0.x, $0.y) = ($0.y, 1 - $0.x) } }
        (x, y) = (y, sides.x == 0 ? -x : x)
        if kind != nil { kind = Kind(sides: (sides.y, -sides.x)) }
    }

    private mutating func changePoint(_ change: (inout ImgproxyGravity) -> Void) {
        if kind == .focus { change(&self) }
    }

    var keyText: String { "\((kind ?? .center).rawValue) \(x) \(y)" }
}

/// Rounds halves away from zero, and clips far above all limits.
func pixels(_ value: Double) -> Int { whole(value.rounded()) }

func pixels(evenly value: Double) -> Int { whole(value.rounded(.toNearestOrEven)) }

/// Clips to twice the longest side that any limit allows.
private func whole(_ value: Double) -> Int { value.isNaN ? 0 : Int(max(-2e7, min(value, 2e7))) }
