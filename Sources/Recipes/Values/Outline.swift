import Glibc

/// A rectangle with round corners or a polygon, in pixels from the frame's top left corner.
package struct Outline: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package var x: Double
        package var y: Double
    }

    package var left = 0.0
    package var top = 0.0
    package var right = 0.0
    package var bottom = 0.0
    package var across = 0.0
    package var down = 0.0
    package var corners: [Point] = []

    init(_ size: PixelSize, radius: Double) {
        right = Double(size.width)
        bottom = Double(size.height)
        across = min(radius, right / 2, bottom / 2)
        down = across
    }

    init(corners: [Point]) { self.corners = corners }

    init(_ size: PixelSize, across: Double, down: Double) {
        right = Double(size.width)
        bottom = Double(size.height)
        self.across = min(across, right / 2)
        self.down = min(down, bottom / 2)
    }

    init(_ mask: ImageOperations.Mask, in size: PixelSize) {
        let width = Double(size.width)
        let height = Double(size.height)
        let radius = min(width, height) / 2
        let middle = Point(x: width / 2, y: height / 2)
        switch mask {
        case .ellipse:
            self.init(size, radius: 0)
            across = width / 2
            down = height / 2
        case .circle, .square:
            self.init(size, radius: 0)
            left = middle.x - radius
            right = middle.x + radius
            top = middle.y - radius
            bottom = middle.y + radius
            if mask == .circle {
                across = radius
                down = radius
            }
        case .triangle: self.init(around: middle, radii: [radius], count: 3)
        case .triangleDown: self.init(around: middle, radii: [radius], count: 3, isUpsideDown: true)
        case .pentagon: self.init(around: middle, radii: [radius], count: 5)
        case .pentagonDown: self.init(around: middle, radii: [radius], count: 5, isUpsideDown: true)
        case .hexagon: self.init(around: middle, radii: [radius], count: 6)
        case .star:
            // The inner radius of a pentagram.
            self.init(around: middle, radii: [radius, radius * (3 - 5.0.squareRoot()) / 2], count: 10)
        case .heart: self.init(heartAround: middle, halfWidth: radius)
        }
    }

    /// Corners at equal angles, the first one at the top, at alternating distances from `middle`.
    private init(around middle: Point, radii: [Double], count: Int, isUpsideDown: Bool = false) {
        corners = (0..<count).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(count)
            let radius = radii[index % radii.count] * (isUpsideDown ? -1 : 1)
            return Point(x: middle.x + radius * sin(angle), y: middle.y - radius * cos(angle))
        }
    }

    /// The heart curve x = 16 sin³ t, y = 13 cos t − 5 cos 2t − 2 cos 3t − cos 4t, scaled to the width.
    private init(heartAround middle: Point, halfWidth: Double) {
        let curve = (0..<128).map { index -> Point in
            let angle = 2 * Double.pi * Double(index) / 128
            let height = 13 * cos(angle) - 5 * cos(2 * angle) - 2 * cos(3 * angle) - cos(4 * angle)
            return Point(x: 16 * pow(sin(angle), 3), y: -height)
        }
        let heights = curve.map(\.y)
        let center = ((heights.min() ?? 0) + (heights.max() ?? 0)) / 2
        corners = curve.map { point in
            Point(x: middle.x + point.x * halfWidth / 16, y: middle.y + (point.y - center) * halfWidth / 16)
        }
    }
}

extension Outline {
    /// Returns the outline in a plane with one sample per `step` pixels on each axis.
    ///
    /// The last sample of an odd side covers a pixel beyond the edge; it is inside if the edge is.
    package func reduced(by step: Int, in size: PixelSize) -> Outline {
        let factor = 1 / Double(step)
        let plane = size.reduced(by: step)
        var reduced = self
        reduced.left = left * factor
        reduced.top = top * factor
        reduced.right = right == Double(size.width) ? Double(plane.width) : right * factor
        reduced.bottom = bottom == Double(size.height) ? Double(plane.height) : bottom * factor
        reduced.across = across * factor
        reduced.down = down * factor
        reduced.corners = corners.map { Point(x: $0.x * factor, y: $0.y * factor) }
        return reduced
    }
}
