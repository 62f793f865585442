/// A metric as people know it, whatever its values are: a row of the table in docs/metrics.md.
package struct MetricDescription: Sendable {
    /// Its kind in Prometheus' words.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    /// The name for Prometheus.
    package let name: String
    /// The meaning, one sentence.
    package let help: String
    package let kind: Kind
    /// The names of the labels.
    package let labels: [String]
    /// The metric as collectors of OpenTelemetry know it; nil if it is not sent.
    package let otlp: OTLPMetric?
    /// Whether the value is counted elsewhere and read when it is needed ("asynchronous instrument").
    let isObserved: Bool
}

/// The name, the unit and the attributes of a metric in OpenTelemetry.
package struct OTLPMetric: Sendable {
    package let name: String
    /// A unit of UCUM, or the counted things in braces.
    package let unit: String
    /// The names of the attributes; nil if they are the labels.
    package let attributes: [String]?
    /// Whether the values of several services add up to one, although they fall again ("UpDownCounter").
    let isSum: Bool

    /// A metric of the semantic conventions.
    package init(_ name: String, unit: String, attributes: [String]? = nil, isSum: Bool = false) {
        self.name = name
        self.unit = unit
        self.attributes = attributes
        self.isSum = isSum
    }

    /// The metric that a name for Prometheus stands for: units and kinds are no parts of names in OpenTelemetry.
    ///
    /// - Parameters:
    ///   - name: Such as `alula_decode_seconds`, which becomes `alula.decode.duration`.
    ///   - counted: The things that are counted, such as `transfer`; nil for sizes, times and yes or no.
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
