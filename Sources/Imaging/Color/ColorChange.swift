/// A change of colors: a table for each component, then matrices, then a factor and an offset.
///
/// Values are 0…255. They are clipped after each part, and rounded only at the end. Appended changes are combined, to
/// pass over the pixels as rarely as possible.
struct ColorChange: Equatable {
    /// A 3×3 matrix of red, green and blue, row by row.
    struct Matrix: Equatable {
        var factors: [Double]

        var staysInRange: Bool {
            (0..<3).allSatisfy { row in
                let factors = factors[3 * row..<3 * row + 3]
                return factors.allSatisfy { $0 >= 0 } && factors.reduce(0, +) < 1 + 1e-9
            }
        }

        func after(_ first: Matrix) -> Matrix {
            Matrix(
                factors: (0..<9).map { index in
                    let (row, column) = (index / 3, index % 3)
                    return (0..<3).reduce(0) { $0 + factors[3 * row + $1] * first.factors[3 * $1 + column] }
                })
        }
    }

    struct Scale: Equatable {
        var factor = 1.0
        var offset = 0.0
    }

    private(set) var table = (0...255).map(Double.init)
    private(set) var matrices: [Matrix] = []
    private(set) var leading: [Scale] = []
    private(set) var trailing = Scale()

    mutating func append(_ scale: Scale) {
        precondition(trailing == Scale(), "nothing is appended to the last part")
        if matrices.isEmpty {
            leading.append(scale)
            table = table.map { min(max($0 * scale.factor + scale.offset, 0), 255) }
        } else {
            trailing = scale
        }
    }

    mutating func append(_ matrix: Matrix) {
        precondition(trailing == Scale(), "nothing is appended to the last part")
        if let last = matrices.last, last.staysInRange {
            matrices[matrices.count - 1] = matrix.after(last)
        } else {
            matrices.append(matrix)
        }
    }
}
