import Foundation
package import Imaging
package import Recipes

/// Faces of gray ellipses that a cascade for frontal faces detects.
package struct FaceDrawing {
    /// The center, and the width from ear to ear, in pixels.
    package typealias Place = (x: Int, y: Int, width: Int)

    private struct Ellipse {
        let x, y, across, down, shade: Double
        var softness = 0.25
    }

    /// Relative to the face's center and width; each covers the earlier ones.
    private static let ellipses: [Ellipse] =
        [
            Ellipse(x: 0, y: -0.10, across: 0.62, down: 0.80, shade: 45),
            Ellipse(x: 0, y: 0.05, across: 0.50, down: 0.68, shade: 185),
        ]
        + sides { Ellipse(x: 0.30 * $0, y: 0.15, across: 0.14, down: 0.14, shade: 200) }
        + sides { Ellipse(x: 0.22 * $0, y: -0.11, across: 0.15, down: 0.085, shade: 110, softness: 0.6) }
        + sides { Ellipse(x: 0.22 * $0, y: -0.20, across: 0.16, down: 0.035, shade: 70) }
        + sides { Ellipse(x: 0.22 * $0, y: -0.09, across: 0.085, down: 0.04, shade: 60) }
        + [Ellipse(x: 0, y: 0.02, across: 0.05, down: 0.22, shade: 205, softness: 0.5)]
        + sides { Ellipse(x: 0.07 * $0, y: 0.22, across: 0.045, down: 0.025, shade: 110) }
        + [
            Ellipse(x: 0, y: 0.40, across: 0.19, down: 0.05, shade: 95),
            Ellipse(x: 0, y: 0.50, across: 0.14, down: 0.03, shade: 160),
        ]

    private static func sides(_ make: (Double) -> Ellipse) -> [Ellipse] { [make(-1), make(1)] }

    /// - Parameters:
    ///   - bands: 1 or 3.
    ///   - degrees: Clockwise rotation of each face.
    package static func image(
        _ size: PixelSize, bands: Int = 1, _ faces: [Place], turned degrees: Double = 0
    ) -> SampleImage {
        let turn = (sine: sin(degrees * .pi / 180), cosine: cos(degrees * .pi / 180))
        return SampleImage(size, bands: bands) { x, y in
            [UInt8](repeating: UInt8(shade(x, y, faces, turn).rounded()), count: bands)
        }
    }

    private static func shade(
        _ x: Int, _ y: Int, _ faces: [Place], _ turn: (sine: Double, cosine: Double)
    ) -> Double {
        var shade = 110.0
        for face in faces where abs(x - face.x) <= face.width && abs(y - face.y) <= face.width {
            let (right, below) = (Double(x - face.x) / Double(face.width), Double(y - face.y) / Double(face.width))
            let across = right * turn.cosine + below * turn.sine
            let down = below * turn.cosine - right * turn.sine
            for ellipse in ellipses {
                let (u, v) = ((across - ellipse.x) / ellipse.across, (down - ellipse.y) / ellipse.down)
                let share = min(max(0, (1 + ellipse.softness - u * u - v * v) / (2 * ellipse.softness)), 1)
                shade += (ellipse.shade - shade) * share
            }
        }
        return shade
    }
}

extension FaceDetector {
    /// A detector with Debian's cascades, which `make deps` installs; nil if they are missing.
    package static var installed: FaceDetector? {
        FaceDetector(paths.compactMap { path in (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) } })
    }
}
