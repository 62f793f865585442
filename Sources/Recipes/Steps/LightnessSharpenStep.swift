/// Sharpens CIELAB lightness as libvips does, with different amounts for flat areas and edges.
package struct LightnessSharpenStep: FilterStep {
    /// Standard deviation of the mean that lightness is compared with, in pixels; above 0, at most 10.
    package let sigma: Float
    /// The amount for small differences, 0…1000000.
    package let flat: Float
    /// The amount for large differences, 0…1000000.
    package let jagged: Float

    /// Nanoseconds per pixel, and per pixel times the standard deviation; see ``TimeCost``.
    private static let time = (frame: 200.0, deviation: 21.0)

    package init(sigma: Float, flat: Float, jagged: Float) {
        (self.sigma, self.flat, self.jagged) = (sigma, flat, jagged)
    }

    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.frame + Self.time.deviation * Double(sigma))
    }

    package var keyText: String { "sharpen lightness \(sigma) \(flat) \(jagged)" }

    package var words: String {
        "sharpen the lightness with a deviation of \(sigma) pixels, flat parts by \(flat), edges by \(jagged)"
    }
}
