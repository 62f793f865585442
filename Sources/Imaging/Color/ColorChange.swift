import Glibc
import Recipes

/// A table for each component, then matrices, then a factor and an offset.
///
/// Values are 0…255, clipped after each stage and rounded only at the end. Appended changes are combined, so that there
/// are few passes over the pixels.
struct ColorChange: Equatable {
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
                    let row = index / 3
                    let column = index % 3
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
        precondition(trailing == Scale(), "the last offset ends the change")
        if matrices.isEmpty {
            leading.append(scale)
            table = table.map { min(max($0 * scale.factor + scale.offset, 0), 255) }
        } else {
            trailing = scale
        }
    }

    mutating func append(_ matrix: Matrix) {
        precondition(trailing == Scale(), "the last offset ends the change")
        if let last = matrices.last, last.staysInRange {
            matrices[matrices.count - 1] = matrix.after(last)
        } else {
            matrices.append(matrix)
        }
    }
}

extension ColorChange {
    init(_ filters: OperationNumbers) {
        self.init()
        if filters[.brightness] != 100 { append(Scale(factor: Double(filters[.brightness]) / 100)) }
        if filters[.contrast] != 100 {
            let contrast = Double(filters[.contrast]) / 100
            append(Scale(factor: contrast, offset: 127.5 * (1 - contrast)))
        }
        if filters[.saturation] != 100 { append(.saturation(Double(filters[.saturation]) / 100)) }
        if filters[.hue] != 0 { append(.hue(Double(filters[.hue]) * .pi / 180)) }
        if filters[.grayscale] != 0 { append(.grayscale(Double(filters[.grayscale]) / 100)) }
        if filters[.sepia] != 0 { append(.sepia(Double(filters[.sepia]) / 100)) }
        if filters[.inversion] != 0 {
            let inversion = Double(filters[.inversion]) / 100
            append(Scale(factor: 1 - 2 * inversion, offset: 255 * inversion))
        }
    }
}

extension ColorChange.Matrix {
    fileprivate static func saturation(_ amount: Double) -> Self {
        mixed([0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072], share: 1 - amount)
    }

    fileprivate static func grayscale(_ amount: Double) -> Self {
        mixed([0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722], share: amount)
    }

    fileprivate static func sepia(_ amount: Double) -> Self {
        mixed([0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131], share: amount)
    }

    fileprivate static func hue(_ angle: Double) -> Self {
        let constant = [0.213, 0.715, 0.072, 0.213, 0.715, 0.072, 0.213, 0.715, 0.072]
        let byCosine = [0.787, -0.715, -0.072, -0.213, 0.285, -0.072, -0.213, -0.715, 0.928]
        let bySine = [-0.213, -0.715, 0.928, 0.143, 0.140, -0.283, -0.787, 0.715, 0.072]
        return Self(factors: (0..<9).map { constant[$0] + cos(angle) * byCosine[$0] + sin(angle) * bySine[$0] })
    }

    /// Mixes the factors with the identity; `share` is the part of the factors.
    private static func mixed(_ factors: [Double], share: Double) -> Self {
        Self(factors: (0..<9).map { factors[$0] * share + ($0 % 4 == 0 ? 1 - share : 0) })
    }
}
