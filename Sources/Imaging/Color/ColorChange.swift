/// A change of colors: a table for each component, then matrices, then a factor and a summand.
///
/// Values are 0…255. They are clipped after each part, and rounded only at the end. Changes are put together as they
/// are added, so that as few passes as possible are made over the pixels.
struct ColorChange: Equatable {
    /// Factors of red, green and blue for red, then for green and for blue.
    struct Matrix: Equatable {
        var factors: [Double]

        /// Whether no result can leave the range, so that nothing is clipped after it.
        var staysInRange: Bool {
            (0..<3).allSatisfy { row in
                let factors = factors[3 * row..<3 * row + 3]
                return factors.allSatisfy { $0 >= 0 } && factors.reduce(0, +) < 1 + 1e-9
            }
        }

        /// This matrix after `first`.
        func after(_ first: Matrix) -> Matrix {
            Matrix(
                factors: (0..<9).map { index in
                    let (row, column) = (index / 3, index % 3)
                    return (0..<3).reduce(0) { $0 + factors[3 * row + $1] * first.factors[3 * $1 + column] }
                })
        }
    }

    /// A factor of all components and a summand.
    struct Scale: Equatable {
        var factor = 1.0
        var offset = 0.0
    }

    /// The value for each component.
    private(set) var table = (0...255).map(Double.init)
    /// The matrices in their order.
    private(set) var matrices: [Matrix] = []
    /// The scales that the table combines, in order.
    private(set) var leading: [Scale] = []
    /// The curve after the matrices.
    private(set) var trailing = Scale()

    /// Multiplies every component and adds to it.
    mutating func append(_ scale: Scale) {
        precondition(trailing == Scale(), "nothing is appended to the last part")
        if matrices.isEmpty {
            leading.append(scale)
            table = table.map { min(max($0 * scale.factor + scale.offset, 0), 255) }
        } else {
            trailing = scale
        }
    }

    /// Multiplies colors by a matrix.
    mutating func append(_ matrix: Matrix) {
        precondition(trailing == Scale(), "nothing is appended to the last part")
        if let last = matrices.last, last.staysInRange {
            matrices[matrices.count - 1] = matrix.after(last)
        } else {
            matrices.append(matrix)
        }
    }
}
