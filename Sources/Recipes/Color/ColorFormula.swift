/// Changes each pixel's color independently of other pixels, but not alpha.
package enum ColorFormula: Hashable, Sendable {
    case scales(red: Scale, green: Scale, blue: Scale)
    /// 256 values each for red, green and blue.
    case curves([UInt8])
    /// A 3×3 matrix, row by row, in thousandths.
    case matrix([Int])
    /// Multiplies each component's distance from √(0.299 R² + 0.587 G² + 0.114 B²) by a factor in ten-thousandths.
    case saturation(Int)
    /// Factors in CIE Lab and a rotation in degrees, in ten-thousandths.
    case lab(lightness: Int, chroma: Int, hue: Int)

    /// A factor and an offset, both in ten-thousandths.
    package struct Scale: Hashable, Sendable {
        var factor: Int
        var offset: Int

        package init(factor: Int = 10_000, offset: Int = 0) {
            self.factor = factor
            self.offset = offset
        }

        package var table: [UInt8] {
            (0...255).map { value in
                let result = (Double(value) * Double(factor) + Double(offset)) / 10_000
                return UInt8(min(max(result.rounded(), 0), 255))
            }
        }
    }

    package static func scale(_ scale: Scale) -> ColorFormula { .scales(red: scale, green: scale, blue: scale) }

    /// Whether gray stays gray, so that a gray image needs no color bands.
    package var keepsGray: Bool {
        switch self {
        case .scales(let red, let green, let blue): red == green && green == blue
        case .curves(let tables):
            tables[..<256].elementsEqual(tables[256..<512]) && tables[..<256].elementsEqual(tables[512...])
        case .matrix, .saturation, .lab: false
        }
    }

    var keyText: String {
        switch self {
        case .scales(let red, let green, let blue):
            "scales " + [red, green, blue].map { "\($0.factor),\($0.offset)" }.joined(separator: " ")
        case .curves(let tables): "curves " + tables.map(String.init).joined(separator: ",")
        case .matrix(let factors): "matrix " + factors.map(String.init).joined(separator: ",")
        case .saturation(let factor): "saturation \(factor)"
        case .lab(let lightness, let chroma, let hue): "lab \(lightness) \(chroma) \(hue)"
        }
    }
}
