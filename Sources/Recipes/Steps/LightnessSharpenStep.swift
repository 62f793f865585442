/// Sharpens CIELAB lightness as libvips does, with different amounts for flat areas and edges.
package struct LightnessSharpenStep: FilterStep {
    /// The radius in pixels; above 0, at most 10.
    package let sigma: Float
    /// The strength for flat areas, 0…1000000.
    package let flat: Float
    /// The strength for edges, 0…1000000.
    package let jagged: Float

    private static let time = (frame: 200.0, deviation: 21.0)

    package init(sigma: Float, flat: Float, jagged: Float) {
        self.sigma = sigma
        self.flat = flat
        self.jagged = jagged
    }

    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.frame + Self.time.deviation * Double(sigma))
    }

    package var keyText: String { "sharpen lightness \(sigma) \(flat) \(jagged)" }

    package var summary: String {
        "sharpen the lightness with a deviation of \(sigma) pixels, flat parts by \(flat), edges by \(jagged)"
    }
}
