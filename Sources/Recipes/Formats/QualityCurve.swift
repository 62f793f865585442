/// Maps JPEG qualities to encoder qualities with the same visual quality at the same image size.
///
/// Measured by SSIMULACRA2 (docs/quality.md) and interpolated linearly.
struct QualityCurve: Sendable {
    /// JPEG qualities, and encoder qualities for each of ``sides``; both increase beyond 1 to 100.
    private let points: [(visual: Int, encoder: [Int])]

    /// Sides of squares with the area of 4:3 results that are 100, 300, 500 and 1000 pixels wide.
    private static let sides = [87, 260, 433, 866]

    static let same = QualityCurve([])

    static let webp = QualityCurve([
        (30, [22, 20, 23, 28]), (45, [37, 37, 40, 50]), (60, [50, 53, 57, 69]), (70, [64, 67, 71, 78]),
        (80, [77, 79, 81, 85]), (89, [86, 87, 88, 92]), (90, [90, 91, 92, 95]),
    ])

    /// AVIF has full-size chroma at every quality, JPEG beyond 90 upward.
    static let avif = QualityCurve([
        (10, [20, 20, 20, 20]), (20, [30, 32, 34, 35]), (30, [38, 40, 42, 43]), (45, [45, 48, 49, 51]),
        (60, [53, 54, 55, 57]), (70, [57, 59, 60, 62]), (80, [64, 67, 69, 72]), (89, [80, 81, 81, 85]),
        (90, [88, 89, 90, 91]), (95, [95, 95, 95, 95]),
    ])

    static let jxl = QualityCurve([
        (20, [35, 32, 31, 28]), (30, [45, 42, 41, 38]), (45, [57, 57, 56, 55]), (60, [66, 65, 64, 65]),
        (70, [73, 72, 72, 73]), (80, [81, 81, 81, 82]), (89, [89, 88, 88, 89]), (90, [91, 91, 91, 92]),
    ])

    private init(_ points: [(visual: Int, encoder: [Int])]) {
        let ends = [1, 100].map { end in (visual: end, encoder: Self.sides.map { _ in end }) }
        self.points = [ends[0]] + points + [ends[1]]
    }

    var isIdentity: Bool { points.count == 2 }

    func encoderQuality(for visual: Int, pixels: Int) -> Int {
        // Square roots are the same on all processors.
        let side = min(max(Int(Double(pixels).squareRoot()), Self.sides[0]), Self.sides[Self.sides.count - 1])
        let column = Self.sides.dropLast().lastIndex { $0 <= side } ?? 0
        let beyond = side - Self.sides[column]
        let width = Self.sides[column + 1] - Self.sides[column]
        for (low, high) in zip(points, points.dropFirst()) where visual <= high.visual {
            let above = visual - low.visual
            let distance = high.visual - low.visual
            func quality(_ column: Int) -> Int {
                low.encoder[column] * (distance - above) + high.encoder[column] * above
            }
            let sum = quality(column) * (width - beyond) + quality(column + 1) * beyond
            return (sum + distance * width / 2) / (distance * width)
        }
        return 100
    }

    func visualQuality(of encoderQuality: Int, pixels: Int) -> Int {
        (1...100).first { self.encoderQuality(for: $0, pixels: pixels) >= encoderQuality } ?? 100
    }
}
