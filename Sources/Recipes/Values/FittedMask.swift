import Glibc

/// A centered shape, enlarged until its bounding box reaches two edges of the frame.
///
/// The corners of polygons and stars are on a circle, the first one at the top, so that a square stands on its corner.
package struct FittedMask {
    package let size: PixelSize
    let outline: Outline

    package init(_ mask: ImageOperations.Mask, in frame: PixelSize) {
        let side = min(frame.width, frame.height)
        let radius = Double(side) / 2
        switch mask {
        case .ellipse:
            size = frame
            outline = Outline(mask, in: frame)
        case .circle:
            size = PixelSize(width: side, height: side)
            outline = Outline(mask, in: frame)
        case .heart:
            // The bounds are computed from all points; every second point becomes a corner.
            let points = (0...314).map { Self.heartPoint(at: -Double.pi + 0.02 * Double($0), radius: radius) }
            (size, outline) = Self.fitted(points, keepingEvery: 2, in: frame)
        case .triangle, .triangleDown, .pentagon, .pentagonDown, .hexagon, .square, .star:
            let middle = Outline.Point(x: Double(frame.width) / 2, y: Double(frame.height) / 2)
            let points = Self.points(of: mask, around: middle, radius: radius)
            (size, outline) = Self.fitted(points, keepingEvery: 1, in: frame)
        }
    }

    /// Scales points from their bounds to the frame, rounded to whole pixels.
    private static func fitted(
        _ points: [Outline.Point], keepingEvery step: Int, in frame: PixelSize
    ) -> (PixelSize, Outline) {
        func bounds(_ values: [Double]) -> (start: Double, length: Double) {
            let minimum = values.min() ?? 0
            let maximum = values.max() ?? 0
            return (minimum.rounded(), max(1, (maximum - minimum).rounded()))
        }
        let across = bounds(points.map(\.x))
        let down = bounds(points.map(\.y))
        let width = Double(frame.width)
        let height = Double(frame.height)
        let scale = min(width / across.length, height / down.length)
        let left = width / 2 - (across.start + across.length / 2) * scale
        let top = height / 2 - (down.start + down.length / 2) * scale
        let corners = stride(from: 0, to: points.count, by: step).map { index in
            Outline.Point(x: points[index].x * scale + left, y: points[index].y * scale + top)
        }
        let size = PixelSize(
            width: min(frame.width, Int((across.length * scale).rounded())),
            height: min(frame.height, Int((down.length * scale).rounded())))
        return (size, Outline(corners: corners))
    }

    private static func points(
        of mask: ImageOperations.Mask, around middle: Outline.Point, radius: Double
    ) -> [Outline.Point] {
        let (count, inner, isDown): (Int, Double, Bool) =
            switch mask {
            case .triangle: (3, 1, false)
            case .triangleDown: (3, 1, true)
            case .square: (4, 1, false)
            case .pentagon: (5, 1, false)
            case .pentagonDown: (5, 1, true)
            case .star: (10, 0.382, false)
            default: (6, 1, false)
            }
        return (0..<count).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(count) + (isDown ? Double.pi : 0)
            let distance = index.isMultiple(of: 2) ? radius : radius * inner
            return Outline.Point(x: middle.x + distance * sin(angle), y: middle.y - distance * cos(angle))
        }
    }

    /// Returns a point of the heart curve x = 16 sin³ t, y = 13 cos t − 5 cos 2t − 2 cos 3t − cos 4t.
    private static func heartPoint(at angle: Double, radius: Double) -> Outline.Point {
        let height = 13 * cos(angle) - 5 * cos(2 * angle) - 2 * cos(3 * angle) - cos(4 * angle)
        return Outline.Point(x: radius * (1 + 16 * pow(sin(angle), 3)), y: radius * (1 - height))
    }
}
