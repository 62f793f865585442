/// A change of colours by tables, a matrix or a formula.
///
/// ``ColorStep`` is faster, and has the filter functions of CSS only.
package struct ColorFormulaStep: Hashable {
    package let formula: ColorFormula

    /// Nanoseconds of one core for each pixel: of tables and matrices, of a saturation, and of formulas in CIE Lab;
    /// measured as ``TimePrice`` says.
    private static let time = (plain: 14.0, saturation: 22.0, lab: 115.0)

    /// A step that changes colours by `formula`.
    package init(_ formula: ColorFormula) {
        self.formula = formula
    }
}

extension ColorFormulaStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        let time =
            switch formula {
            case .scales, .curves, .matrix: Self.time.plain
            case .saturation: Self.time.saturation
            case .lab: Self.time.lab
            }
        return .filtering(work, time: time)
    }

    package var keyText: String { "formula \(formula.keyText)" }

    package var words: String { "change colours by the formula \(formula.keyText)" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.changed(by: formula, token: context.token)
    }
}

/// Equally frequent values of each component, or noise that depends on the place of a pixel alone.
package enum HistogramStep: Hashable {
    /// The values of each component are spread so that they are equally frequent.
    case equalize
    /// One of `amount` numbers around 0 is added to each pixel; `amount` is 1…65536.
    case noise(amount: Int, seed: Int)

    /// Nanoseconds of one core for each pixel; measured as ``TimePrice`` says.
    private static let time = 16.0
}

extension HistogramStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { input }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String {
        switch self {
        case .equalize: "equalize"
        case .noise(let amount, let seed): "noise \(amount) \(seed)"
        }
    }

    package var words: String {
        switch self {
        case .equalize: "spread the brightness over the whole range"
        case .noise(let amount, _): "add noise of \(amount)"
        }
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        switch self {
        case .equalize: try image.equalized(token: context.token)
        case .noise(let amount, let seed): try image.noisy(amount: amount, seed: seed, token: context.token)
        }
    }
}
