import Recipes
import Text

private let largestSquare = 99

extension RenderSteps {
    mutating func appendEffects(_ values: FrontEndParameters) throws(APIError) {
        func square(_ name: String, rank: RankStep.Rank, side: (Int) -> Int) throws(APIError) {
            guard values.has(name) else { return }
            let side = side(try values.whole(name, in: 1...1_000) ?? (rank == .median ? 3 : 1))
            guard side <= largestSquare else {
                throw .unsupportedOption(name, "Squares larger than \(largestSquare) pixels are not supported.")
            }
            append(RankStep(rank, side: side))
        }
        if values.has("negate") { append(ColorMapStep(.curves([.negative]))) }
        if values.has("grayscale") { append(ColorMapStep(.gray)) }
        try square("median", rank: .median) { $0 }
        if values.has("threshold") {
            let minimum = try values.whole("threshold", in: 0...255) ?? 128
            append(ColorMapStep(.gray))
            append(ColorFormulaStep(.curves((0..<768).map { $0 % 256 >= minimum ? 255 : 0 })))
        }
        try square("dilate", rank: .maximum) { 2 * $0 + 1 }
        try square("erode", rank: .minimum) { 2 * $0 + 1 }
        if values.has("blur") {
            if let sigma = try values.number("blur", in: 0.3...1_000) {
                append(GaussianStep(.blur, sigma: Int((100_000 * sigma).rounded())))
            } else {
                append(KernelStep(.mean))
            }
        }
        try appendModulation(values)
        if values.has("sharpen") { try appendSharpening(values) }
        // The second number reverses the first one; both are equal by default.
        let gamma = try values.number("gamma", in: 1...3) ?? 2.2
        if let out = try values.number("gamma.1", in: 1...3), out != gamma {
            append(ColorMapStep(.curves([.power(Float(gamma / out))])))
        }
        if values.has("linear") {
            let factor = try values.number("linear", in: -1_000...1_000) ?? 1
            let summand = try values.number("linear.1", in: -100_000...100_000) ?? 0
            func units(_ number: Double) -> Int { Int((10_000 * number).rounded()) }
            append(ColorFormulaStep(.scale(ColorFormula.Scale(factor: units(factor), offset: units(summand)))))
        }
        if values.has("normalize") {
            let low = try values.whole("normalize", in: 0...99) ?? 1
            append(HistogramStep.normalize(low: low, high: try values.whole("normalize.1", in: 1...100) ?? 99))
        }
        if values.has("tint") {
            append(ColorMapStep(.tint(try FrontEndParameters.color(try values.required("tint"), parameter: "tint"))))
        }
    }

    private mutating func appendSharpening(_ values: FrontEndParameters) throws(APIError) {
        let flat = Float(try values.number("sharpen.1", in: 0...1_000_000) ?? 1)
        let jagged = Float(try values.number("sharpen.2", in: 0...1_000_000) ?? 2)
        if let sigma = try values.number("sharpen", in: 0.000_001...10) {
            append(LightnessSharpenStep(sigma: Float(sigma), flat: flat, jagged: jagged))
        } else {
            append(KernelStep(.sharpen))
        }
    }

    private mutating func appendModulation(_ values: FrontEndParameters) throws(APIError) {
        func value(_ index: Int, named name: String, in range: ClosedRange<Double>) throws(APIError) -> Float? {
            let argument = try values.number(FrontEndParameters.name(index, of: "modulate"), in: range)
            guard values.has(name) else { return argument.map { Float($0) } }
            let amount = Float(try FrontEndParameters.number(try values.required(name), parameter: name, in: range))
            // `saturation` and `brightness` replace the numbers of `modulate`.
            return name == "saturation" ? amount : argument.map { Float($0) } ?? amount
        }
        let lightness = try value(0, named: "brightness", in: 0...10_000) ?? 1
        let chroma = try value(1, named: "saturation", in: 0...10_000) ?? 1
        let hue = Int((try value(2, named: "hue", in: -1_000_000...1_000_000) ?? 0).rounded())
        let added = try value(3, named: "lightness", in: -1_000...1_000) ?? 0
        guard lightness != 1 || chroma != 1 || hue % 360 != 0 || added != 0 else { return }
        append(ColorMapStep(.lch(lightness: lightness, chroma: chroma, hue: (hue % 360 + 360) % 360, added: added)))
    }
}
