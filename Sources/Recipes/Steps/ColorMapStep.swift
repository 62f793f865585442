/// Changes each pixel's color independently of other pixels, but not alpha.
package struct ColorMapStep: FilterStep {
    /// A map of colors; results out of range are clipped.
    package enum Map: Hashable, Sendable {
        case curves([ToneCurve])
        /// A 3×3 matrix, row by row, in ten-thousandths.
        case matrix([Int])
        /// Factors of CIE LCh lightness and chroma, a hue rotation in degrees, and lightness to add (0…100).
        case lch(lightness: Float, chroma: Float, hue: Int, added: Float = 0)
        /// Keeps CIELAB lightness and uses a* and b* of the color.
        case tint(Color)
        case gray
        /// Maps gray to a color between these two, interpolated in CIELAB.
        case gradient(from: Color, to: Color)
    }

    package let map: Map

    package init(_ map: Map) { self.map = map }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: time) }

    package var keyText: String {
        switch map {
        case .curves(let curves): "curves \(curves.map(\.keyText).joined(separator: ", "))"
        case .matrix(let factors): "matrix \(factors.map(String.init).joined(separator: " "))"
        case .lch(let lightness, let chroma, let hue, let added):
            "lch \(lightness) \(chroma) \(hue)" + (added == 0 ? "" : " \(added)")
        case .tint(let color): "tint \(color.keyText)"
        case .gray: "grey"
        case .gradient(let from, let to): "gradient \(from.keyText) \(to.keyText)"
        }
    }

    package var summary: String {
        switch map {
        case .gray: "turn into gray"
        case .tint(let color): "tint with \(color.summary)"
        case .gradient(let start, let end): "map dark to bright on \(start.summary) to \(end.summary)"
        case .lch(let lightness, let chroma, let hue, let added):
            "multiply lightness by \(lightness) and chroma by \(chroma), turn the hue by \(hue)°"
                + (added == 0 ? "" : ", add \(added) to the lightness")
        case .curves, .matrix: "change colors by \(keyText)"
        }
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? { map == .gray ? [("grayscale", "100")] : nil }

    package var colors: StepColors { .changed }

    private var time: Double {
        switch map {
        case .curves, .matrix: 9
        case .lch: 140
        case .tint: 90
        case .gray: 16
        case .gradient: 22
        }
    }
}
