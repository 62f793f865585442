/// Replaces each pixel by the median, minimum or maximum of the square around it.
///
/// Ranks each component separately, except alpha. Edge pixels are repeated.
package struct RankStep: FilterStep {
    package enum Rank: String, Hashable, Sendable {
        case minimum = "least"
        case median
        case maximum = "most"
    }

    package let rank: Rank
    /// The side of the square in pixels, 1…99.
    package let side: Int

    private static let time = (pixel: 150.0, side: 16.0)

    package init(_ rank: Rank, side: Int) {
        self.rank = rank
        self.side = side
    }

    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.pixel + Self.time.side * Double(side))
    }

    package var keyText: String { "rank \(rank.rawValue) \(side)" }

    package var summary: String {
        switch rank {
        case .minimum: "spread dark parts by squares of \(side) pixels"
        case .median: "take the median of squares of \(side) pixels"
        case .maximum: "spread bright parts by squares of \(side) pixels"
        }
    }
}
