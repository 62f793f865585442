import Glibc

/// The transfer function of sRGB (IEC 61966-2-1).
enum StandardCurve {
    /// The light, 0…1, of each of the 256 components.
    static let light = (0...255).map { light(of: Double($0) / 255) }

    /// The light of a component; both 0…1.
    static func light(of component: Double) -> Double {
        component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
    }

    /// The component, 0…255, of light that is bounded to 0…1.
    static func component(of light: Double) -> Int {
        let light = min(max(light, 0), 1)
        let component = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(component * 255 + 0.5)
    }
}
