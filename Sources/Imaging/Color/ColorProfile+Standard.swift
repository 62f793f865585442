import Glibc

extension ColorProfile {
    /// Whether these are the colours of sRGB, within what 8 bits can show: they need no conversion.
    var isStandard: Bool {
        primaries.count == 3
            && zip(primaries, Self.standardPrimaries).allSatisfy { primary, expected in
                zip(primary, expected).allSatisfy { abs(Double($0) / 65_536 - $1) < 0.003 }
            } && curves.allSatisfy(\.isStandard)
    }

    /// The primaries of sRGB adapted to the profile connection space's D50.
    private static let standardPrimaries = [
        [0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7139],
    ]
}

extension ColorProfile.Curve {
    /// Whether this is sRGB's curve, within half a step of 8 bits.
    fileprivate var isStandard: Bool {
        switch self {
        case .table(let values):
            // A single entry is a plain gamma, which sRGB is not.
            values.count > 16
                && (0...16).allSatisfy { step in
                    let index = (values.count - 1) * step / 16
                    return Self.matches(Double(values[index]) / 65_535, at: Double(index) / Double(values.count - 1))
                }
        case .formula(let kind, let parameters):
            kind == 3 && zip(parameters, Self.standardParameters).allSatisfy { abs(Double($0) / 65_536 - $1) < 0.001 }
        }
    }

    /// The parameters of sRGB's curve in formula 3 of ICC's parametric curves.
    private static let standardParameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

    /// Whether `light` is sRGB's amount for `component`, both 0…1; the tolerance is half an 8-bit step of the
    /// component.
    private static func matches(_ light: Double, at component: Double) -> Bool {
        let half = 0.5 / 255
        return light >= standardLight(component - half) && light <= standardLight(component + half)
    }

    private static func standardLight(_ component: Double) -> Double { StandardCurve.light(of: component) }
}
