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
        /// The only objects that are found.
        case faces = "obj"
        /// In fractions of width and height.
        case focus = "fp"
        /// Only for watermarks.
        case tiles = "re"

        /// -1 at the left and top, 1 at the right and bottom, 0 in the middle; nil for the others.
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
    /// Inward, or to the right from the center: pixels from 1 on, below it a fraction of the width; or the point.
    var x = 0.0
    /// Inward, or down from the center: pixels from 1 on, below it a fraction of the height; or the point.
    var y = 0.0

    /// - Parameters:
    ///   - ratio: The factor of distances in pixels.
    ///   - mayOverhang: A part of `inner` may lie outside; at least one pixel stays inside.
    func place(
        of inner: PixelSize, on outer: PixelSize, ratio: Double, mayOverhang: Bool = false
    ) -> (x: Int, y: Int) {
        func bounded(_ start: Int, _ inner: Int, _ outer: Int) -> Int {
            let (minimum, maximum) = mayOverhang ? (1 - inner, outer - 1) : (0, outer - inner)
            return max(minimum, min(start, maximum))
        }
        let sides = kind == .focus ? nil : (kind?.sides ?? (0, 0))
        let left = Self.start(inner.width, on: outer.width, at: sides?.x, offset: x, ratio: ratio)
        let top = Self.start(inner.height, on: outer.height, at: sides?.y, offset: y, ratio: ratio)
        return (bounded(left, inner.width, outer.width), bounded(top, inner.height, outer.height))
    }

    private static func start(
        _ inner: Int, on outer: Int, at side: Int?, offset: Double, ratio: Double
    ) -> Int {
        let distance = distance(offset, of: outer, ratio: ratio)
        return switch side {
        case -1: distance
        case 0: pixels(evenly: Double(outer - inner + 1) / 2) + distance
        case 1: outer - inner - distance
        default: pixels(evenly: Double(outer) * offset) - inner / 2
        }
    }

    /// The offset counts in pixels from 1 up, and as a fraction of `side` below.
    static func distance(_ offset: Double, of side: Int, ratio: Double) -> Int {
        pixels(evenly: abs(offset) >= 1 ? offset * ratio : Double(side) * offset)
    }
}

extension ImgproxyGravity {
    /// Before the image is turned by `quarters` clockwise, and then mirrored.
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

/// Halves away from zero; clips far beyond all limits.
func pixels(_ value: Double) -> Int { whole(value.rounded()) }

func pixels(evenly value: Double) -> Int { whole(value.rounded(.toNearestOrEven)) }

/// At most twice the longest side that any limit allows.
private func whole(_ value: Double) -> Int { value.isNaN ? 0 : Int(max(-2e7, min(value, 2e7))) }
