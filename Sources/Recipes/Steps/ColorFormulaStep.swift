/// Changes colors by tables, a matrix or a formula.
///
/// ``ColorStep`` is faster, but has only the CSS filter functions.
package struct ColorFormulaStep: WholeFrameStep {
    package let formula: ColorFormula
    private static let time = (plain: 14.0, saturation: 22.0, lab: 115.0)

    package init(_ formula: ColorFormula) { self.formula = formula }

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

    package var summary: String { "change colors by the formula \(formula.keyText)" }

    package var colors: StepColors { .changed }
}

package enum HistogramStep: WholeFrameStep {
    case equalize
    /// Stretches the range between these percentiles of CIELAB lightness (of an animation's first frame).
    case normalize(low: Int, high: Int)
    /// Adds a random number around 0 to each pixel, one of `amount` values (1…65536).
    case noise(amount: Int, seed: Int)

    private static let time = (plain: 16.0, lightness: 220.0)

    package func cost(of work: StepWork) -> StepCost {
        if case .normalize = self { return .filtering(work, time: Self.time.lightness) }
        return .filtering(work, time: Self.time.plain)
    }

    package var keyText: String {
        switch self {
        case .equalize: "equalize"
        case .normalize(let low, let high): "normalize \(low) \(high)"
        case .noise(let amount, let seed): "noise \(amount) \(seed)"
        }
    }

    package var summary: String {
        switch self {
        case .equalize: "spread the brightness over the whole range"
        case .normalize(let low, let high): "spread the lightness between \(low) and \(high) % of the pixels"
        case .noise(let amount, _): "add noise of \(amount)"
        }
    }

    package var colors: StepColors { .changed }
}
