import JSON

extension MetricsRegistry {
    /// Exposition format 0.0.4, in order of registration.
    package var prometheusText: String { readings.map { PrometheusText.lines(of: $0) }.joined() }
}

private enum PrometheusText {
    static func lines(of reading: MetricReading) -> String {
        let metric = reading.description
        var text = "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
        switch reading.points {
        case .histograms(let parts):
            text += lines(of: parts.reduce(.empty) { $0 + $1.reading }, name: metric.name)
        case .numbers(let samples) where metric.labels.isEmpty:
            text += "\(metric.name) \(number(samples.reduce(0) { $0 + $1.value }))\n"
        case .numbers(let samples):
            for sample in samples {
                let labels = zip(metric.labels, sample.labels).map { "\($0)=\(JSONText.string($1))" }
                text += "\(metric.name){\(labels.joined(separator: ","))} \(number(sample.value))\n"
            }
        }
        return text
    }

    private static func lines(of histogram: HistogramReading, name: String) -> String {
        var text = ""
        var cumulated = 0
        for (count, bound) in zip(histogram.counts, Histogram.secondsBounds.map { number($0) } + ["+Inf"]) {
            cumulated += count
            text += "\(name)_bucket{le=\"\(bound)\"} \(cumulated)\n"
        }
        return text + "\(name)_sum \(number(histogram.sum))\n\(name)_count \(cumulated)\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
    }
}
