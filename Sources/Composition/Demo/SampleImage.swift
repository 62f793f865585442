import Imaging

enum SampleImage {
    static func jpeg(width: Int, height: Int) throws -> EncodedImage {
        var pixels = [UInt8]()
        pixels.reserveCapacity(width * height * 3)
        let columns = (0..<width).map { column in
            let x = Double(column) / Double(width) * 4 / 3
            return (x: x, ridges: hills.map { $0.base - ridge(x, $0) })
        }
        for row in 0..<height {
            let y = Double(row) / Double(height)
            for column in columns {
                let color = color(x: column.x, y: y, ridges: column.ridges)
                for part in [color.0, color.1, color.2] { pixels.append(UInt8(max(0, min(255, part * 255)))) }
            }
        }
        return try ImageEncoder.encode(
            pixels: pixels, size: PixelSize(width: width, height: height), bands: 3, format: .jpeg, quality: 90)
    }

    private typealias Light = (Double, Double, Double)

    /// Returns the color at a point; x runs from 0 to 4/3, y from 0 at the top to 1.
    ///
    /// `ridges` are the heights of the hills at this x.
    private static func color(x: Double, y: Double, ridges: [Double]) -> Light {
        if isBird(x: x, y: y) { return (0.08, 0.07, 0.12) }
        guard let hill = ridges.lastIndex(where: { y > $0 }) else { return sky(x: x, y: y) }
        let depth = Double(hill) / Double(hills.count - 1)
        let grain = 0.02 * noise(x * 90, y * 90)
        let color = mix((0.45, 0.36, 0.55), (0.07, 0.11, 0.16), depth)
        return (color.0 + grain, color.1 + grain, color.2 + grain)
    }

    private static func sky(x: Double, y: Double) -> Light {
        let glow = mix((0.16, 0.27, 0.52), (0.98, 0.66, 0.42), min(1, y * 1.5))
        let distance = ((x - 0.95) * (x - 0.95) + (y - 0.46) * (y - 0.46)).squareRoot()
        if distance < 0.075 { return (1, 0.95, 0.80) }
        let halo = max(0, 1 - distance * 2.2)
        let cloud = max(0, noise(x * 3, y * 14) * noise(x * 7 + 5, y * 20) - 0.18) * 0.9 * max(0, 1 - y * 1.4)
        return mix(mix(glow, (1, 0.86, 0.62), halo * halo * 0.8), (1, 0.93, 0.90), min(0.6, cloud))
    }

    private static let hills: [(base: Double, height: Double, pitch: Double, shift: Double)] = [
        (0.66, 0.10, 2.1, 0.3), (0.74, 0.09, 3.3, 1.9), (0.84, 0.08, 2.6, 4.2), (0.95, 0.07, 4.4, 0.9),
    ]

    private static func ridge(
        _ x: Double, _ hill: (base: Double, height: Double, pitch: Double, shift: Double)
    ) -> Double {
        hill.height
            * (noise(x * hill.pitch + hill.shift, hill.shift) + 0.35 * noise(x * hill.pitch * 4, hill.shift + 9))
    }

    /// Two wings as arcs that meet in a body.
    private static func isBird(x: Double, y: Double) -> Bool {
        let dx = (x - 0.48) / 0.20
        let dy = (y - 0.27) / 0.20
        let span = abs(dx)
        guard span < 1 else { return false }
        let wing = -0.42 * (span * 2.2 * (1 - span * 0.62)) + (dx < 0 ? 0.04 : 0)
        let thickness = 0.075 * (1 - span) * (1 - span) + 0.014 * (1 - span)
        return abs(dy - wing) < thickness + (span < 0.10 ? 0.05 * (1 - span * 10) : 0)
    }

    private static func mix(_ left: Light, _ right: Light, _ share: Double) -> Light {
        (
            left.0 + (right.0 - left.0) * share, left.1 + (right.1 - left.1) * share,
            left.2 + (right.2 - left.2) * share
        )
    }

    /// Smooth value noise between 0 and 1, with one bump per unit of length.
    private static func noise(_ x: Double, _ y: Double) -> Double {
        let column = x.rounded(.down)
        let row = y.rounded(.down)
        func smooth(_ part: Double) -> Double { part * part * (3 - 2 * part) }
        func corner(_ right: Double, _ down: Double) -> Double {
            var bits = UInt64(bitPattern: Int64(column + right)) &* 0x9E37_79B9_7F4A_7C15
            bits ^= UInt64(bitPattern: Int64(row + down)) &* 0xC2B2_AE3D_27D4_EB4F
            bits = (bits ^ (bits >> 29)) &* 0xBF58_476D_1CE4_E5B9
            return Double((bits ^ (bits >> 32)) & 0xFFFF) / 65_535
        }
        let across = smooth(x - column)
        let top = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * across
        let bottom = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * across
        return top + (bottom - top) * smooth(y - row)
    }
}
