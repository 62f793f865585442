import JSON

package enum MetricsFormat: Sendable {
    /// Exposition format 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0, which has exemplars.
    case openMetrics

    package var mediaType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}

extension MetricsRegistry {
    /// In order of registration.
    package func text(as format: MetricsFormat) -> String {
        let text = readings.map { PrometheusText(format: format).lines(of: $0) }.joined()
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    package var prometheusText: String { text(as: .prometheus) }
}

private struct PrometheusText {
    let format: MetricsFormat

    func lines(of reading: MetricReading) -> String {
        let metric = reading.description
        let family = format == .openMetrics && metric.kind == .counter ? metric.name.cut("_total") : metric.name
        var text = "# HELP \(family) \(metric.help)\n# TYPE \(family) \(metric.kind.rawValue)\n"
        switch reading.points {
        case .histograms(let samples):
            for (labels, histogram) in Self.summed(samples, by: metric.labels.count) {
                text += lines(of: histogram, name: metric.name, labels: Self.pairs(metric.labels, labels))
            }
        case .numbers(let samples) where metric.labels.isEmpty:
            text += "\(metric.name) \(Self.number(samples.reduce(0) { $0 + $1.value }))\n"
        case .numbers(let samples):
            for sample in samples {
                let labels = Self.braces(Self.pairs(metric.labels, sample.labels))
                text += "\(metric.name)\(labels) \(Self.number(sample.value))\n"
            }
        }
        return text
    }

    /// OpenTelemetry's further attributes are added up; an omitted attribute is `none`.
    private static func summed(
        _ samples: [(labels: [String], reading: HistogramReading)], by count: Int
    ) -> [(labels: [String], reading: HistogramReading)] {
        if count == 0 { return [([], samples.reduce(.empty) { $0 + $1.reading })] }
        var sums: [[String]: HistogramReading] = [:]
        for sample in samples {
            let labels = sample.labels.prefix(count).map { $0.isEmpty ? "none" : $0 }
            sums[labels] = (sums[labels] ?? .empty) + sample.reading
        }
        return sums.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
    }

    private func lines(of histogram: HistogramReading, name: String, labels: [String]) -> String {
        var text = ""
        var cumulated = 0
        let bounds = Histogram.secondsBounds.map { Self.number($0) } + ["+Inf"]
        for (index, bound) in bounds.enumerated() {
            cumulated += histogram.counts[index]
            text += "\(name)_bucket\(Self.braces(labels + ["le=\"\(bound)\""])) \(cumulated)"
            if format == .openMetrics, let exemplar = histogram.exemplars[index] {
                text += " # {trace_id=\"\(exemplar.traceID)\"} \(Self.number(exemplar.value))"
            }
            text += "\n"
        }
        let braces = Self.braces(labels)
        return text + "\(name)_sum\(braces) \(Self.number(histogram.sum))\n\(name)_count\(braces) \(cumulated)\n"
    }

    private static func pairs(_ names: [String], _ values: [String]) -> [String] {
        zip(names, values).map { "\($0)=\(JSONText.string($1))" }
    }

    private static func braces(_ pairs: [String]) -> String { pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}" }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
    }
}

extension String {
    fileprivate func cut(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
