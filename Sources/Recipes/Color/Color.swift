import Glibc

package struct Color: Hashable, Sendable {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8
    package var alpha: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    package static let white = Color(red: 255, green: 255, blue: 255)
    package static let black = Color(red: 0, green: 0, blue: 0)
    package static let transparent = Color(red: 0, green: 0, blue: 0, alpha: 0)
}

extension Color {
    package func composited(over backdrop: Color) -> Color {
        func mix(_ front: UInt8, _ back: UInt8) -> UInt8 {
            let sum = Int(front) * Int(alpha) + Int(back) * (255 - Int(alpha))
            return UInt8((2 * sum + 255) / 510)
        }
        return Color(red: mix(red, backdrop.red), green: mix(green, backdrop.green), blue: mix(blue, backdrop.blue))
    }

    package var isGray: Bool { red == green && green == blue }

    package var summary: String {
        guard alpha > 0 else { return "no color" }
        return "#\(hexadecimal.prefix(6))" + (alpha == 255 ? "" : " of \(Int(alpha) * 100 / 255) %")
    }

    /// `rrggbb` for an opaque color, otherwise `rrggbbaa`.
    package var hexadecimal: String {
        let components = [red, green, blue] + (alpha == 255 ? [] : [alpha])
        return components.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    var keyText: String { "\(red),\(green),\(blue),\(alpha)" }
}

/// The transfer function of sRGB (IEC 61966-2-1).
package enum SRGBCurve {
    package static let light = (0...255).map { light(of: Double($0) / 255) }

    package static func light(of component: Double) -> Double {
        component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
    }

    package static func component(of light: Double) -> Int {
        let light = min(max(light, 0), 1)
        let component = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(component * 255 + 0.5)
    }
}
