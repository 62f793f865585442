package struct ColorEncoding: Hashable, Sendable {
    package enum Transfer: Hashable, Sendable {
        /// The sRGB curve; also used for video transfer functions.
        case srgb
        /// A power function with this exponent in 100,000ths.
        case power(Int)
        /// Perceptual quantizer, up to 10,000 cd/m² (SMPTE ST 2084).
        case pq
        /// Hybrid log-gamma (ITU-R BT.2100).
        case hlg
    }

    package let chromaticities: Chromaticities
    package let transfer: Transfer
    /// The maximum luminance of the image or its mastering display in cd/m²; 0 if unknown.
    package var peak = 0

    package init(_ chromaticities: Chromaticities, transfer: Transfer, peak: Int = 0) {
        self.chromaticities = chromaticities
        self.transfer = transfer
        self.peak = peak
    }

    package init?(primaries: Int, transfer: Int) {
        guard let chromaticities = Chromaticities.byCodePoint[primaries] else { return nil }
        let curves: [Int: Transfer] = [4: .power(220_000), 5: .power(280_000), 8: .power(100_000), 16: .pq, 18: .hlg]
        self.init(chromaticities, transfer: curves[transfer] ?? .srgb)
    }

    package var isHDR: Bool { transfer == .pq || transfer == .hlg }

}

/// The CIE 1931 chromaticities of red, green, blue and white: x and y in 100,000ths.
package struct Chromaticities: Hashable, Sendable {
    let numbers: [Int]

    package init?(_ numbers: [Int]) {
        guard numbers.count == 8, numbers.allSatisfy({ -100_000...200_000 ~= $0 }), numbers[7] > 0 else { return nil }
        self.numbers = numbers
        // Bounds all values computed from the matrices.
        guard (toXYZ + connectionPrimaries).joined().allSatisfy({ abs($0) < 16 }) else { return nil }
    }

    private init(known numbers: [Int]) { self.numbers = numbers }

    private static let d65 = [31_270, 32_900]
    package static let srgb = Chromaticities(known: [64_000, 33_000, 30_000, 60_000, 15_000, 6_000] + d65)
    package static let displayP3 = Chromaticities(known: [68_000, 32_000, 26_500, 69_000, 15_000, 6_000] + d65)
    package static let adobeRGB = Chromaticities(known: [64_000, 33_000, 21_000, 71_000, 15_000, 6_000] + d65)
    package static let proPhoto = Chromaticities(known: [73_470, 26_530, 15_960, 84_040, 3_660, 10, 34_567, 35_850])
    package static let rec2020 = Chromaticities(known: [70_800, 29_200, 17_000, 79_700, 13_100, 4_600] + d65)

    /// ITU-T H.273 table 2; old American and European TV primaries count as sRGB.
    fileprivate static let byCodePoint = [
        1: srgb, 5: srgb, 6: srgb, 7: srgb, 9: rec2020, 12: displayP3,
        11: Chromaticities(known: [68_000, 32_000, 26_500, 69_000, 15_000, 6_000, 31_400, 35_100]),
    ]

    /// X, Y and Z of red, green and blue, scaled so that white has Y = 1.
    package var toXYZ: [[Double]] {
        let solids = (0..<4).map { index -> [Double] in
            let x = Double(numbers[2 * index]) / 100_000
            let y = Double(numbers[2 * index + 1]) / 100_000
            return [x, y, 1 - x - y]
        }
        let white = solids[3].map { $0 / solids[3][1] }
        let amounts = Matrix3(columns: Array(solids[..<3])).inverse * white
        return zip(solids, amounts).map { solid, amount in solid.map { $0 * amount } }
    }

    package func light(in other: Chromaticities) -> Matrix3 {
        Matrix3(columns: other.connectionPrimaries).inverse * Matrix3(columns: connectionPrimaries)
    }

    /// ``toXYZ`` adapted to D50, the white of the profile connection space, by the Bradford matrix.
    package var connectionPrimaries: [[Double]] {
        let light = toXYZ
        let white = (0..<3).map { light[0][$0] + light[1][$0] + light[2][$0] }
        let cone = Matrix3([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
        let from = cone * white
        let to = cone * [0.9642, 1, 0.8249]
        return light.map { solid in
            cone.inverse * zip(cone * solid, zip(from, to)).map { value, white in value * white.1 / white.0 }
        }
    }
}

package struct Matrix3 {
    package let rows: [[Double]]

    init(_ rows: [[Double]]) { self.rows = rows }

    package init(columns: [[Double]]) { rows = (0..<3).map { row in columns.map { $0[row] } } }

    package static func * (matrix: Matrix3, vector: [Double]) -> [Double] {
        matrix.rows.map { $0[0] * vector[0] + $0[1] * vector[1] + $0[2] * vector[2] }
    }

    package static func * (one: Matrix3, other: Matrix3) -> Matrix3 {
        Matrix3(
            one.rows.map { row in (0..<3).map { column in (0..<3).reduce(0) { $0 + row[$1] * other.rows[$1][column] } }
            })
    }

    package var inverse: Matrix3 {
        func minor(_ row: Int, _ column: Int) -> Double {
            let a = (row + 1) % 3
            let b = (row + 2) % 3
            let c = (column + 1) % 3
            let d = (column + 2) % 3
            return rows[a][c] * rows[b][d] - rows[a][d] * rows[b][c]
        }
        let determinant = (0..<3).reduce(0) { $0 + rows[0][$1] * minor(0, $1) }
        return Matrix3((0..<3).map { row in (0..<3).map { minor($0, row) / determinant } })
    }
}
