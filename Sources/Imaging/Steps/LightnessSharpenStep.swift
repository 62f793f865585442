/// A sharpening of the lightness in CIELAB by libvips' measure: flat parts and edges are sharpened by different
/// amounts.
package struct LightnessSharpenStep: Hashable {
    /// Standard deviation of the mean that the lightness is compared with, in pixels; above 0, at most 10.
    package let sigma: Float
    /// The amount for small differences, 0…1000000.
    package let flat: Float
    /// The amount for large differences, 0…1000000.
    package let jagged: Float

    /// Nanoseconds of one core for each pixel, and for each pixel of the standard deviation; measured as ``TimePrice``
    /// says.
    private static let time = (frame: 200.0, deviation: 21.0)

    /// A step that sharpens by these values.
    package init(sigma: Float, flat: Float, jagged: Float) {
        (self.sigma, self.flat, self.jagged) = (sigma, flat, jagged)
    }
}

extension LightnessSharpenStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost {
        .filtering(work, time: Self.time.frame + Self.time.deviation * Double(sigma))
    }

    package var keyText: String { "sharpen lightness \(sigma) \(flat) \(jagged)" }

    package var words: String {
        "sharpen the lightness with a deviation of \(sigma) pixels, flat parts by \(flat), edges by \(jagged)"
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.inColor().withColors { colors throws(VipsError) in
            try colors.sharpenedLightness(sigma: Double(sigma), flat: Double(flat), jagged: Double(jagged))
        }
    }
}
