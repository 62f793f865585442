import Glibc
import Recipes

enum ThumborKernel {
    /// Returns the deviation of a Gaussian kernel truncated at `radius` pixels, in hundred-thousandths of a pixel.
    ///
    /// - Parameter sigma: The curve's deviation in millionths; 0 uses the radius.
    static func deviation(radius: Int, sigma: Int) -> Int {
        let curveSigma = sigma == 0 ? Double(radius) : max(Double(sigma) / 1_000_000, 0.05)
        var sum = 1.0
        var squares = 0.0
        for distance in 1...radius {
            let square = Double(distance * distance)
            let weight = 2 * exp(-square / (2 * curveSigma * curveSigma))
            sum += weight
            squares += weight * square
        }
        return max(1, Int(((squares / sum).squareRoot() * 100_000).rounded()))
    }

    /// Returns the sharpening, in hundredths, closest to thumbor's wavelets with an amount in millionths.
    ///
    /// Fitted to the results of thumbor 7.8.0 for photographs with radii from 0.3 to 2.
    static func sharpening(by amount: Int) -> Int { min(max(0, amount), 100_000_000) * 3 / 40_000 }

    /// `convolution(1;2;1,3,true)`: factors row by row, their number in a row, and whether to normalize their sum.
    static func step(_ arguments: ThumborArguments) -> ConvolutionStep? {
        guard 2...3 ~= arguments.count, let matrix = arguments.text(0), let columns = arguments.whole(1),
            let normalizes = arguments.count == 3 ? arguments.flag(2) : true
        else { return nil }
        let texts = matrix.utf8.split(
            separator: UInt8(ascii: ";"), maxSplits: ConvolutionStep.maximumFactors, omittingEmptySubsequences: false)
        // The factors must be small enough that their sum cannot overflow.
        let factors = texts.compactMap { ThumborNumber.millionths($0) }.map { min(max($0, -one * 1_000), one * 1_000) }
        guard factors.count == texts.count else { return nil }
        let sum = factors.reduce(0, +)
        guard normalizes, sum != 0 else { return ConvolutionStep(factors: factors, columns: columns) }
        return ConvolutionStep(
            factors: factors.map { Int((Double($0) / Double(sum) * Double(one)).rounded()) }, columns: columns)
    }

    private static let one = 1_000_000
}

/// `curve([…],[…],[…],[…])`: natural cubic splines through points, for all components and for each of them.
enum ThumborCurve {
    private struct Point {
        let x: Int
        let y: Int
    }

    static func map(_ arguments: ThumborArguments) -> ColorFormula? {
        let tables = (0..<4).compactMap { arguments.text($0).flatMap(points).map(table) }
        guard tables.count == 4 else { return nil }
        return .curves((1..<4).flatMap { component in tables[component].map { tables[0][Int($0)] } })
    }

    private static func points(_ text: String) -> [Point]? {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") else { return nil }
        var points: [Point] = []
        for pair in bytes.dropFirst().dropLast().split(separator: UInt8(ascii: ")")) {
            let pair = pair.first == UInt8(ascii: ",") ? pair.dropFirst() : pair
            guard pair.first == UInt8(ascii: "(") else { return nil }
            let numbers = pair.dropFirst().split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            guard numbers.count == 2, let x = ThumborNumber.whole(numbers[0], maximum: 255),
                let y = ThumborNumber.whole(numbers[1], maximum: 255), x > points.last?.x ?? -1
            else { return nil }
            points.append(Point(x: x, y: y))
        }
        return points.isEmpty ? nil : points
    }

    private static func table(_ points: [Point]) -> [UInt8] {
        let bends = secondDerivatives(points)
        var table = [UInt8](repeating: UInt8(points[0].y), count: 256)
        for index in points.indices.dropLast() {
            let start = points[index]
            let end = points[index + 1]
            let width = Double(end.x - start.x)
            for x in start.x..<end.x {
                let after = Double(x - start.x) / width
                let before = 1 - after
                let bend =
                    (before * before * before - before) * bends[index] + (after * after * after - after)
                    * bends[index + 1]
                let value = before * Double(start.y) + after * Double(end.y) + width * width / 6 * bend
                table[x] = UInt8(min(max(value.rounded(), 0), 255))
            }
        }
        if let last = points.last { for x in last.x...255 { table[x] = UInt8(last.y) } }
        return table
    }

    private static func secondDerivatives(_ points: [Point]) -> [Double] {
        var bends = [Double](repeating: 0, count: points.count)
        guard points.count > 2 else { return bends }
        func slope(_ index: Int) -> Double {
            Double(points[index + 1].y - points[index].y) / Double(points[index + 1].x - points[index].x)
        }
        // Solve a tridiagonal system by elimination and back substitution.
        var upper = [Double](repeating: 0, count: points.count)
        for index in 1..<points.count - 1 {
            let left = Double(points[index].x - points[index - 1].x)
            let right = Double(points[index + 1].x - points[index].x)
            let pivot = 2 * (left + right) - left * upper[index - 1]
            upper[index] = right / pivot
            bends[index] = (6 * (slope(index) - slope(index - 1)) - left * bends[index - 1]) / pivot
        }
        for index in (1..<points.count - 1).reversed() { bends[index] -= upper[index] * bends[index + 1] }
        return bends
    }
}
