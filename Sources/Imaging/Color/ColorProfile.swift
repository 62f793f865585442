import Glibc
import Recipes

/// The curves and primaries of an image's colors; most ICC profiles of photographs contain nothing else.
///
/// A profile is as untrusted as its file: only its numbers are kept, and Little CMS reads a profile that the
/// service writes from these.
package struct ColorProfile: Hashable, Sendable {
    enum Curve: Hashable, Sendable {
        /// Light in 65,535ths at equal steps; a single entry is an exponent in 256ths, an empty table is the identity.
        case table([UInt16])
        /// The number of a formula in ICC.1:2010 section 10.16, and its parameters in 65,536ths.
        case formula(Int, [Int32])
    }

    /// The major version, which affects how Little CMS treats black.
    let majorVersion: UInt8
    /// Whether the connection space is CIELAB instead of XYZ.
    let connectsByLab: Bool
    let primaries: [[Int32]]
    let curves: [Curve]

    func describes(bands: Int) -> Bool { bands == (primaries.isEmpty ? 1 : 3) }
}

extension ColorProfile.Curve {
    static let longestTable = 65_536

    static let parameterCounts = [1, 3, 4, 5, 7]
}

extension ColorProfile {
    /// Whether the colors are sRGB within 8-bit precision, so that they need no conversion.
    var isSRGB: Bool { has(Self.srgbPrimaries) && curves.allSatisfy(\.isSRGB) }

    var isDisplayP3: Bool { has(Chromaticities.displayP3.connectionPrimaries) && curves.allSatisfy(\.isSRGB) }

    private func has(_ primaries: [[Double]]) -> Bool {
        self.primaries.count == 3
            && zip(self.primaries, primaries).allSatisfy { primary, expected in
                zip(primary, expected).allSatisfy { abs(Double($0) / 65_536 - $1) < 0.003 }
            }
    }

    private static let srgbPrimaries = [
        [0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7139],
    ]

    package static let displayP3 = ColorProfile(.displayP3)
    static let sRGB = ColorProfile(.srgb)

    init(_ chromaticities: Chromaticities, formula: Int = 3, parameters: [Double] = Curve.srgbParameters) {
        func fixed(_ value: Double) -> Int32 { Int32((value * 65_536).rounded()) }
        let curve = Curve.formula(formula, parameters.map(fixed))
        self.init(
            majorVersion: 4, connectsByLab: false, primaries: chromaticities.connectionPrimaries.map { $0.map(fixed) },
            curves: [curve, curve, curve])
    }
}

extension ColorProfile.Curve {
    /// Whether the curve is sRGB within half an 8-bit step.
    fileprivate var isSRGB: Bool {
        switch self {
        // A single entry is a pure gamma curve, unlike sRGB.
        case .table(let values): values.count > 16 && isClose(to: .srgb)
        case .formula(let kind, let parameters):
            kind == 3 && zip(parameters, Self.srgbParameters).allSatisfy { abs(Double($0) / 65_536 - $1) < 0.001 }
        }
    }

    /// The parameters of the sRGB curve in ICC's formula 3.
    static let srgbParameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

    /// Whether pixels can be averaged as if they had the sRGB curve.
    var isNearSRGB: Bool {
        isSRGB || isClose(to: .srgb) || isClose(to: .power(219_922)) || isClose(to: .power(220_000))
    }

    /// Returns whether the curve equals this transfer function within half an 8-bit step.
    func isClose(to transfer: ColorEncoding.Transfer) -> Bool {
        let half = 0.5 / 255
        return (0...16).allSatisfy { step in
            let (component, light) = sample(Double(step) / 16)
            return light >= transfer.light(of: component - half) && light <= transfer.light(of: component + half)
        }
    }

    /// The light of each byte value, clipped to 0…1.
    var lightOfBytes: [Double] {
        (0...255).map { value in
            let light = light(at: Double(value) / 255)
            return light.isFinite ? min(max(light, 0), 1) : 0
        }
    }

    private func light(at component: Double) -> Double {
        guard case .table(let values) = self, values.count > 1 else { return sample(component).light }
        let position = component * Double(values.count - 1)
        let index = min(Int(position), values.count - 2)
        let before = Double(values[index])
        let after = Double(values[index + 1])
        return (before + (position - Double(index)) * (after - before)) / 65_535
    }

    private func sample(_ component: Double) -> (component: Double, light: Double) {
        switch self {
        case .table(let values) where values.isEmpty: return (component, component)
        case .table(let values) where values.count == 1: return (component, pow(component, Double(values[0]) / 256))
        case .table(let values):
            let index = Int(Double(values.count - 1) * component)
            return (Double(index) / Double(values.count - 1), Double(values[index]) / 65_535)
        case .formula(let kind, let parameters):
            return (component, Self.light(of: component, kind: kind, values: parameters.map { Double($0) / 65_536 }))
        }
    }

    /// Computes a formula of ICC.1:2010 table 65.
    private static func light(of component: Double, kind: Int, values: [Double]) -> Double {
        func value(_ index: Int) -> Double { index < values.count ? values[index] : 0 }
        let power = pow(max(0, (kind == 0 ? 1 : value(1)) * component + value(2)), value(0))
        switch kind {
        case 0: return pow(component, value(0))
        case 1: return component >= -value(2) / value(1) ? power : 0
        case 2: return component >= -value(2) / value(1) ? power + value(3) : value(3)
        case 3: return component >= value(4) ? power : value(3) * component
        default: return component >= value(4) ? power + value(5) : value(3) * component + value(6)
        }
    }
}

extension ColorEncoding.Transfer {
    fileprivate func light(of component: Double) -> Double {
        switch self {
        case .power(let power): pow(max(0, component), Double(power) / 100_000)
        case .srgb, .pq, .hlg: SRGBCurve.light(of: component)
        }
    }
}

extension ColorEncoding {
    var profile: ColorProfile? {
        switch transfer {
        case .srgb: ColorProfile(chromaticities)
        case .power(let power): ColorProfile(chromaticities, formula: 0, parameters: [Double(power) / 100_000])
        case .pq, .hlg: nil
        }
    }

    /// The profile for gray; nil for sRGB, and for PQ and HLG, whose gray is shown without one.
    var grayProfile: ColorProfile? {
        guard case .power = transfer, let curve = profile?.curves.first else { return nil }
        return ColorProfile(majorVersion: 4, connectsByLab: false, primaries: [], curves: [curve])
    }

    func profile(ofBands bands: Int) -> ColorProfile? { bands < 3 ? grayProfile : profile }
}
