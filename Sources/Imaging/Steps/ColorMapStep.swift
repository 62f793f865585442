/// A change of each pixel's color that depends on this color alone; alpha stays as it is.
package struct ColorMapStep: Hashable {
    /// A rule for colors; components that leave the range are clipped.
    package enum Map: Hashable, Sendable {
        /// The curves for each component, one after the other.
        case curves([ToneCurve])
        /// Nine factors of red, green and blue: for red, then for green and for blue, in ten-thousandths.
        case matrix([Int])
        /// Lightness and chroma of CIE LCh times these factors, from 0 on, hue plus degrees, and lightness, 0…100, plus
        /// `added`.
        case lch(lightness: Float, chroma: Float, hue: Int, added: Float = 0)
        /// The lightness of CIELAB is kept; a* and b* become those of a color.
        case tint(Color)
        /// Gray of the same luminance; the image has no colors any more.
        case grey
        /// The color that lies at the pixel's gray on the way from one color to another one in CIELAB.
        case gradient(from: Color, to: Color)
    }

    /// How colors change.
    package let map: Map

    /// A step that changes colors by `map`.
    package init(_ map: Map) {
        self.map = map
    }
}

extension ColorMapStep: FilterStep {
    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: time) }

    package var keyText: String {
        switch map {
        case .curves(let curves): "curves \(curves.map(\.keyText).joined(separator: ", "))"
        case .matrix(let factors): "matrix \(factors.map(String.init).joined(separator: " "))"
        case .lch(let lightness, let chroma, let hue, let added):
            "lch \(lightness) \(chroma) \(hue)" + (added == 0 ? "" : " \(added)")
        case .tint(let color): "tint \(color.keyText)"
        case .grey: "grey"
        case .gradient(let from, let to): "gradient \(from.keyText) \(to.keyText)"
        }
    }

    package var words: String {
        switch map {
        case .grey: "turn into gray"
        case .tint(let color): "tint with \(color.words)"
        case .gradient(let start, let end): "map dark to bright on \(start.words) to \(end.words)"
        case .lch(let lightness, let chroma, let hue, let added):
            "multiply lightness by \(lightness) and chroma by \(chroma), turn the hue by \(hue)°"
                + (added == 0 ? "" : ", add \(added) to the lightness")
        case .curves, .matrix: "change colors by \(keyText)"
        }
    }

    package var colors: StepColors { .changed }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        let token = context.token
        switch map {
        case .curves(let curves):
            let table = (0...255).map { component in
                curves.reduce(Double(component)) { $1.value(at: $0) }
            }
            return try image.mapped(by: table, token: token)
        case .matrix(let factors):
            var change = ColorChange()
            change.append(ColorChange.Matrix(factors: factors.map { Double($0) / 10_000 }))
            return try image.inColor().colored(by: change, token: token)
        case .lch(let lightness, let chroma, let hue, let added):
            return try image.inColor().withColors { colors throws(VipsError) in
                try colors.scaled(
                    lightness: Double(lightness), added: Double(added), chroma: Double(chroma), hue: Double(hue))
            }
        case .tint(let color):
            let target = LabColor(color)
            return try image.inColor().withColors { colors throws(VipsError) in
                try colors.tinted(a: target.a, b: target.b)
            }
        case .grey: return try image.withColors { colors throws(VipsError) in try colors.inGrey() }
        case .gradient(let from, let to):
            let (start, end) = (LabColor(from), LabColor(to))
            let gradient = (0...255).map { start.mixed(with: end, share: Double($0) / 255).color }
            return try image.withColors { colors throws(VipsError) in
                try colors.inGrey().replaced(by: gradient)
            }
        }
    }

    /// Nanoseconds of one core for each pixel; measured as ``TimePrice`` says.
    private var time: Double {
        switch map {
        case .curves, .matrix: 9
        case .lch: 140
        case .tint: 90
        case .grey: 16
        case .gradient: 22
        }
    }
}
