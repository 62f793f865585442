/// The quality of a format's encoder that looks as a JPEG file of a given quality does.
///
/// The points were measured by SSIMULACRA2 (docs/quality.md); between them the curve is straight.
struct QualityCurve: Sendable {
    /// Qualities of JPEG and of the encoder, both rising, from 1 to 100.
    private let points: [(look: Int, encoder: Int)]

    /// The scale of JPEG itself.
    static let same = QualityCurve()

    static let webp = QualityCurve((20, 12), (30, 26), (45, 42), (60, 57), (70, 70), (90, 91))

    /// AVIF keeps chroma at full size at every quality, JPEG from 90 on.
    static let avif = QualityCurve(
        (5, 10), (10, 20), (20, 33), (30, 41), (45, 48), (60, 54), (70, 59), (80, 67), (85, 73), (90, 88), (95, 95))

    static let jxl = QualityCurve((20, 32), (30, 42), (45, 54), (60, 63), (70, 72), (80, 80), (90, 91))

    /// A curve through these points, from 1 to 1 and up to 100 to 100.
    init(_ points: (look: Int, encoder: Int)...) {
        self.points = [(1, 1)] + points + [(100, 100)]
    }

    /// Whether the encoder's quality is the look itself.
    var isSame: Bool { points.allSatisfy { $0.look == $0.encoder } }

    /// The encoder's quality that looks as JPEG of quality `look` does, 1…100.
    func encoderQuality(for look: Int) -> Int {
        for (low, high) in zip(points, points.dropFirst()) where look <= high.look {
            let (steps, rise) = (high.look - low.look, high.encoder - low.encoder)
            return low.encoder + ((look - low.look) * rise + steps / 2) / steps
        }
        return 100
    }

    /// The lowest look for which the encoder's quality is at least this one, 1…100.
    func look(of encoderQuality: Int) -> Int {
        (1...100).first { self.encoderQuality(for: $0) >= encoderQuality } ?? 100
    }
}
