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
        /// In fractions of width and height.
        case focus = "fp"
        /// Only for watermarks.
        case tiles = "re"
    }

    var kind: Kind?
    /// Inward, or to the right from the center: pixels from 1 on, below it a fraction of the width; or the point.
    var x = 0.0
    /// Inward, or down from the center: pixels from 1 on, below it a fraction of the height; or the point.
    var y = 0.0

    /// - Parameters:
    /// - ratio: The factor of distances in pixels.
    /// - mayOverhang: A part of `inner` may lie outside; at least one pixel stays inside.
    func place(
        of inner: PixelSize, on outer: PixelSize, ratio: Double, mayOverhang: Bool = false
    ) -> (x: Int, y: Int) {
        func bounded(_ start: Int, _ inner: Int, _ outer: Int) -> Int {
            let (least, most) = mayOverhang ? (1 - inner, outer - 1) : (0, outer - inner)
            return max(least, min(start, most))
        }
        let (horizontal, vertical) = anchors
        let left = Self.start(inner.width, on: outer.width, at: horizontal, offset: x, ratio: ratio)
        let top = Self.start(inner.height, on: outer.height, at: vertical, offset: y, ratio: ratio)
        return (bounded(left, inner.width, outer.width), bounded(top, inner.height, outer.height))
    }

    private enum Anchor {
        case start, middle, end
        case point
    }

    private var anchors: (horizontal: Anchor, vertical: Anchor) {
        switch kind ?? .center {
        case .center, .smart, .tiles: (.middle, .middle)
        case .north: (.middle, .start)
        case .south: (.middle, .end)
        case .west: (.start, .middle)
        case .east: (.end, .middle)
        case .northWest: (.start, .start)
        case .northEast: (.end, .start)
        case .southWest: (.start, .end)
        case .southEast: (.end, .end)
        case .focus: (.point, .point)
        }
    }

    private static func start(
        _ inner: Int, on outer: Int, at anchor: Anchor, offset: Double, ratio: Double
    ) -> Int {
        let distance = distance(offset, of: outer, ratio: ratio)
        return switch anchor {
        case .start: distance
        case .middle: pixels(evenly: Double(outer - inner + 1) / 2) + distance
        case .end: outer - inner - distance
        case .point: pixels(evenly: Double(outer) * offset) - inner / 2
        }
    }

    /// From 1 on in pixels, below as a fraction of `side`.
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
        switch kind ?? .center {
        case .west: kind = .east
        case .east: kind = .west
        case .northWest: kind = .northEast
        case .northEast: kind = .northWest
        case .southWest: kind = .southEast
        case .southEast: kind = .southWest
        case .center, .north, .south: x = -x
        case .focus: x = 1 - x
        case .smart, .tiles: break
        }
    }

    private mutating func mirrorY() {
        switch kind ?? .center {
        case .north: kind = .south
        case .south: kind = .north
        case .northWest: kind = .southWest
        case .southWest: kind = .northWest
        case .northEast: kind = .southEast
        case .southEast: kind = .northEast
        case .center, .east, .west: y = -y
        case .focus: y = 1 - y
        case .smart, .tiles: break
        }
    }

    private mutating func turnBack() {
        switch kind ?? .center {
        case .center: (x, y) = (y, -x)
        case .north: (kind, x, y) = (.west, y, -x)
        case .south: (kind, x, y) = (.east, y, -x)
        case .east: (kind, x, y) = (.north, y, x)
        case .west: (kind, x, y) = (.south, y, x)
        case .northWest: (kind, x, y) = (.southWest, y, x)
        case .southWest: (kind, x, y) = (.southEast, y, x)
        case .southEast: (kind, x, y) = (.northEast, y, x)
        case .northEast: (kind, x, y) = (.northWest, y, x)
        case .focus: (x, y) = (y, 1 - x)
        case .smart, .tiles: break
        }
    }

    var keyText: String { "\((kind ?? .center).rawValue) \(x) \(y)" }
}

/// Halves away from zero; clips far beyond all limits.
func pixels(_ value: Double) -> Int { whole(value.rounded()) }

/// Halves to even.
func pixels(evenly value: Double) -> Int { whole(value.rounded(.toNearestOrEven)) }

/// At most twice the longest side that any limit allows.
private func whole(_ value: Double) -> Int { value.isNaN ? 0 : Int(max(-2e7, min(value, 2e7))) }
