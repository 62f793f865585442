import Glibc

/// A color in CIELAB under D65, computed independently of the service's code.
struct SeenColor {
    let lightness, a, b: Double

    /// Supported color spaces.
    enum Space: CaseIterable {
        case srgb, p3, rec2020

        /// Matrix from linear RGB to XYZ (CSS Color 4, section 10).
        var matrix: [[Double]] {
            switch self {
            case .srgb:
                [
                    [0.41239080, 0.35758434, 0.18048079], [0.21263901, 0.71516868, 0.07219232],
                    [0.01933082, 0.11919478, 0.95053215],
                ]
            case .p3:
                [
                    [0.48657095, 0.26566769, 0.19821729], [0.22897456, 0.69173852, 0.07928691],
                    [0, 0.04511338, 1.04394437],
                ]
            case .rec2020:
                [
                    [0.63695805, 0.14461690, 0.16888098], [0.26270021, 0.67799807, 0.05930172],
                    [0, 0.02807269, 1.06098506],
                ]
            }
        }
    }

    /// `pixel` has components of 0…255 with sRGB's curve.
    init(_ pixel: [UInt8], in space: Space) {
        let light = pixel.prefix(3).map { value in
            let share = Double(value) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        let white = [0.95045593, 1, 1.08905775]
        let f = zip(space.matrix, white).map { row, white in
            let share = zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } / white
            return share > 216.0 / 24_389 ? cbrt(share) : (24_389.0 / 27 * share + 16) / 116
        }
        (lightness, a, b) = (116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2]))
    }

    var chroma: Double { hypot(a, b) }

    /// The difference between two hues in degrees.
    func hueDifference(from other: SeenColor) -> Double {
        abs(remainder(atan2(b, a) - atan2(other.b, other.a), 2 * .pi)) * 180 / .pi
    }

    /// ΔE2000 as defined by Sharma, Wu and Dalal.
    func difference(from other: SeenColor) -> Double {
        func degrees(_ angle: Double) -> Double { angle * .pi / 180 }
        let mean = (chroma + other.chroma) / 2
        let seventh = { (value: Double) in sqrt(pow(value, 7) / (pow(value, 7) + pow(25, 7))) }
        let stretch = 1 + (1 - seventh(mean)) / 2
        let (a1, a2) = (a * stretch, other.a * stretch)
        let (c1, c2) = (hypot(a1, b), hypot(a2, other.b))
        func hue(_ a: Double, _ b: Double) -> Double {
            a == 0 && b == 0 ? 0 : (atan2(b, a) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
        }
        let (h1, h2) = (hue(a1, b), hue(a2, other.b))
        let turn = c1 * c2 == 0 ? 0 : remainder(h2 - h1, 360)
        let (dL, dC) = (other.lightness - lightness, c2 - c1)
        let dH = 2 * sqrt(c1 * c2) * sin(degrees(turn / 2))
        let (lMean, cMean) = ((lightness + other.lightness) / 2, (c1 + c2) / 2)
        let hMean =
            c1 * c2 == 0 ? h1 + h2 : abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2
        let t =
            1 - 0.17 * cos(degrees(hMean - 30)) + 0.24 * cos(degrees(2 * hMean))
            + 0.32 * cos(degrees(3 * hMean + 6)) - 0.2 * cos(degrees(4 * hMean - 63))
        let sL = 1 + 0.015 * pow(lMean - 50, 2) / sqrt(20 + pow(lMean - 50, 2))
        let (sC, sH) = (1 + 0.045 * cMean, 1 + 0.015 * cMean * t)
        let rotation = -sin(degrees(60 * exp(-pow((hMean - 275) / 25, 2)))) * 2 * seventh(cMean)
        let (l, c, h) = (dL / sL, dC / sC, dH / sH)
        return sqrt(l * l + c * c + h * h + rotation * c * h)
    }
}
