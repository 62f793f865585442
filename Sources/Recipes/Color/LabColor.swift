import Glibc

package struct LabColor: Hashable, Sendable {
    /// Lightness, 0…100.
    package var lightness: Double
    /// Green (negative) to red (positive).
    package var a: Double
    /// Blue (negative) to yellow (positive).
    package var b: Double

    package init(lightness: Double, a: Double, b: Double) {
        self.lightness = lightness
        self.a = a
        self.b = b
    }

    package init(_ color: Color) {
        let red = SRGBCurve.light[Int(color.red)]
        let green = SRGBCurve.light[Int(color.green)]
        let blue = SRGBCurve.light[Int(color.blue)]
        let x = Self.compressed((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / Self.white.x)
        let y = Self.compressed(0.2126729 * red + 0.7151522 * green + 0.0721750 * blue)
        let z = Self.compressed((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / Self.white.z)
        self.init(lightness: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z))
    }

    /// The sRGB color; components out of range are clipped.
    package var color: Color {
        let middle = (lightness + 16) / 116
        let x = Self.expanded(middle + a / 500) * Self.white.x
        let y = Self.expanded(middle)
        let z = Self.expanded(middle - b / 200) * Self.white.z
        return Color(
            red: UInt8(SRGBCurve.component(of: 3.2404542 * x - 1.5371385 * y - 0.4985314 * z)),
            green: UInt8(SRGBCurve.component(of: -0.9692660 * x + 1.8760108 * y + 0.0415560 * z)),
            blue: UInt8(SRGBCurve.component(of: 0.0556434 * x - 0.2040259 * y + 1.0572252 * z)))
    }

    /// Mixes both colors; `share` is the part of `other`, 0…1.
    package func mixed(with other: LabColor, share: Double) -> LabColor {
        func mix(_ from: Double, _ to: Double) -> Double { from + (to - from) * share }
        return LabColor(lightness: mix(lightness, other.lightness), a: mix(a, other.a), b: mix(b, other.b))
    }

    /// X and Z of D65; Y is 1.
    private static let white = (x: 0.95047, z: 1.08883)
    private static let toe = 0.008856
    private static let slope = 7.787

    private static func compressed(_ value: Double) -> Double { value > toe ? cbrt(value) : slope * value + 16.0 / 116 }

    private static func expanded(_ value: Double) -> Double {
        let cube = value * value * value
        return cube > toe ? cube : (value - 16.0 / 116) / slope
    }
}
