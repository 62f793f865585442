package struct MetricDescription: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package let name: String
    package let help: String
    package let kind: Kind
    package let labels: [String]
    package let otlp: OTLPMetric?
    /// Counted elsewhere and read at each export ("asynchronous instrument").
    let isAsynchronous: Bool
}

package struct OTLPMetric: Sendable {
    package let name: String
    /// UCUM, or the counted things in braces.
    package let unit: String
    package let attributes: [String]?
    /// Values that can fall may still be added across services ("UpDownCounter").
    let isUpDownCounter: Bool

    package init(_ name: String, unit: String, attributes: [String]? = nil, isUpDownCounter: Bool = false) {
        self.name = name
        self.unit = unit
        self.attributes = attributes
        self.isUpDownCounter = isUpDownCounter
    }

    /// OpenTelemetry names contain no units and types.
    ///
    /// - Parameters:
    ///   - name: `alula_decode_seconds` becomes `alula.decode.duration`.
    ///   - counted: The counted things, such as `transfer`; nil for sizes, times and flags.
    init(of name: String, counting counted: String?) {
        var rest = Substring(name)
        func cut(_ suffix: String) -> Bool {
            guard rest.hasSuffix(suffix) else { return false }
            rest = rest.dropLast(suffix.count)
            return true
        }
        _ = cut("_total")
        let (ending, unit) =
            if cut("_seconds") {
                (".duration", "s")
            } else if cut("_bytes") {
                (".size", "By")
            } else {
                ("", counted.map { "{\($0)}" } ?? "1")
            }
        let words = rest.split(separator: "_", maxSplits: 1)
        self.init(words.joined(separator: ".") + ending, unit: unit)
    }
}
