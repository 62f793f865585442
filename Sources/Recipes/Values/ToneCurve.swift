import Glibc

package enum ToneCurve: Hashable, Sendable {
    /// Adds a percentage of the range, -100…100.
    case offset(Int)
    /// A logistic function; positive values raise the contrast, negative ones lower it; -100…100, not 0.
    case sigmoid(Int)
    /// Raises each component (0…1) to this power, above 0.
    case power(Float)
    case negative

    package func value(at component: Double) -> Double {
        let share = component / 255
        let result =
            switch self {
            case .offset(let percent): share + Double(percent) / 100
            case .sigmoid(let percent): Self.sigmoid(share, slope: 0.3 * Double(percent))
            case .power(let exponent): pow(share, Double(exponent))
            case .negative: 1 - share
            }
        return 255 * min(max(result, 0), 1)
    }

    var keyText: String {
        switch self {
        case .offset(let percent): "offset \(percent)"
        case .sigmoid(let percent): "sigmoid \(percent)"
        case .power(let exponent): "power \(exponent)"
        case .negative: "negative"
        }
    }

    /// Returns a logistic curve that keeps black and white; the inverse curve for a negative slope.
    private static func sigmoid(_ share: Double, slope: Double) -> Double {
        func logistic(_ value: Double) -> Double { 1 / (1 + exp(abs(slope) * (0.5 - value))) }
        let minimum = logistic(0)
        let maximum = logistic(1)
        if slope > 0 { return (logistic(share) - minimum) / (maximum - minimum) }
        let value = minimum + share * (maximum - minimum)
        return 0.5 - log((1 - value) / value) / abs(slope)
    }
}
