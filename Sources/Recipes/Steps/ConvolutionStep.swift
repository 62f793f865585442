package struct ConvolutionStep: WholeFrameStep {
    package static let maximumFactors = 225

    /// The kernel, row by row, in millionths.
    package let factors: [Int]
    package let columns: Int
    private static let time = (frame: 12.0, factor: 0.4)

    /// Returns nil if the kernel has an even side or is too large.
    package init?(factors: [Int], columns: Int) {
        guard columns > 0, !columns.isMultiple(of: 2), !factors.isEmpty, factors.count <= Self.maximumFactors,
            factors.count.isMultiple(of: columns), !(factors.count / columns).isMultiple(of: 2)
        else { return nil }
        self.factors = factors
        self.columns = columns
    }

    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.frame + Self.time.factor * Double(factors.count))
    }

    package var keyText: String { "convolve \(columns) \(factors.map(String.init).joined(separator: ","))" }

    package var summary: String { "filter by a kernel of \(columns) × \(factors.count / columns) factors" }
}
