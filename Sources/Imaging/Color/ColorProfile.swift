import Glibc

/// The meaning of an image's colours, as the numbers of curves and primaries: all that most ICC profiles of photographs
/// have.
///
/// A profile in a file is as untrusted as the file. Only its numbers are kept, and the colour engine reads a profile
/// that the service writes from these numbers.
package struct ColorProfile: Hashable, Sendable {
    /// The curve from a stored component to light.
    enum Curve: Hashable, Sendable {
        /// Light in 65535ths at even steps; a single entry is an exponent in 256ths, and an empty table is the
        /// identity.
        case table([UInt16])
        /// A formula of ICC.1:2010 section 10.16, by its number, with its parameters in 65536ths.
        case formula(Int, [Int32])
    }

    /// The version of the ICC format, which decides how the colour engine treats black.
    let majorVersion: UInt8
    /// Whether a grey image's connection space is L*a*b*, not XYZ.
    let connectsByLab: Bool
    /// Red, green and blue in the connection space, in 65536ths; empty for grey.
    let primaries: [[Int32]]
    /// One curve for each primary, or one for grey.
    let curves: [Curve]

    /// Whether these are colours of pixels with this number of components: one for grey, three for colour.
    func describes(bands: Int) -> Bool { bands == (primaries.isEmpty ? 1 : 3) }
}

extension ColorProfile.Curve {
    /// Most entries of a table.
    static let longestTable = 65_536

    /// Number of parameters by the formula's number.
    static let parameterCounts = [1, 3, 4, 5, 7]
}

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
