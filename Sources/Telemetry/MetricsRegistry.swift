import Coordination

/// Labels are Prometheus labels and OpenTelemetry attributes.
///
/// `counting` names the counted things for the OpenTelemetry unit; `otlp` is a name of its semantic conventions.
package final class MetricsRegistry: Sendable {
    /// Called at each scrape.
    package typealias Reader = @Sendable () -> [(labels: [String], value: Double)]

    private struct Metric: Sendable {
        let description: MetricDescription
        let read: @Sendable () -> MetricReading.Points
    }

    private let metrics = Locked<[Metric]>([])

    package init() {}

    package func counter(_ name: String, help: String, counting counted: String? = nil) -> Counter {
        let counter = Counter()
        add(name, help: help, kind: .counter, labels: [], otlp: OTLPMetric(of: name, counting: counted)) {
            .numbers([([], Double(counter.value))])
        }
        return counter
    }

    package func counters(
        _ name: String, help: String, labels: String..., counting counted: String? = nil
    ) -> CounterFamily {
        let family = CounterFamily()
        add(name, help: help, kind: .counter, labels: labels, otlp: OTLPMetric(of: name, counting: counted)) {
            .numbers(family.snapshot.map { ($0.labels, Double($0.value)) })
        }
        return family
    }

    package func histogram(_ name: String, help: String) -> Histogram {
        let histogram = Histogram()
        add(name, help: help, kind: .histogram, labels: [], otlp: OTLPMetric(of: name, counting: nil)) {
            .histograms([([], histogram.reading)])
        }
        return histogram
    }

    /// - Parameters:
    ///   - labels: The labels in Prometheus, for the first of the attributes.
    ///   - otlp: With further attributes, whose values Prometheus sees added up.
    package func histograms(
        _ name: String, help: String, labels: String..., otlp: OTLPMetric? = nil
    ) -> HistogramFamily {
        let family = HistogramFamily { Histogram() }
        add(name, help: help, kind: .histogram, labels: labels, otlp: otlp ?? OTLPMetric(of: name, counting: nil)) {
            .histograms(family.all.map { ($0.labels, $0.instrument.reading) })
        }
        return family
    }

    /// Registers a value that is read at each scrape.
    package func gauge(
        _ name: String, help: String, labels: String..., counting counted: String? = nil, otlp: OTLPMetric? = nil,
        read: @escaping Reader
    ) {
        let otlp = otlp ?? OTLPMetric(of: name, counting: counted)
        add(name, help: help, kind: .gauge, labels: labels, otlp: otlp, isAsynchronous: true) { .numbers(read()) }
    }

    /// Registers a count that never falls and is read at each scrape.
    package func observableCounter(
        _ name: String, help: String, labels: String..., counting counted: String? = nil, otlp: OTLPMetric? = nil,
        read: @escaping Reader
    ) {
        let otlp = otlp ?? OTLPMetric(of: name, counting: counted)
        add(name, help: help, kind: .counter, labels: labels, otlp: otlp, isAsynchronous: true) { .numbers(read()) }
    }

    /// OpenTelemetry documents contain the value elsewhere.
    package func prometheusGauge(_ name: String, help: String, labels: String..., read: @escaping Reader) {
        add(name, help: help, kind: .gauge, labels: labels, otlp: nil, isAsynchronous: true) { .numbers(read()) }
    }

    package var readings: [MetricReading] {
        metrics.withLock { $0 }.map { MetricReading(description: $0.description, points: $0.read()) }
    }

    package var descriptions: [MetricDescription] { metrics.withLock { $0.map(\.description) } }

    private func add(
        _ name: String, help: String, kind: MetricDescription.Kind, labels: [String], otlp: OTLPMetric?,
        isAsynchronous: Bool = false, read: @escaping @Sendable () -> MetricReading.Points
    ) {
        let description = MetricDescription(
            name: name, help: help, kind: kind, labels: labels, otlp: otlp, isAsynchronous: isAsynchronous)
        metrics.withLock { metrics in
            precondition(!metrics.contains { $0.description.name == name }, "metric \(name) is registered twice")
            metrics.append(Metric(description: description, read: read))
        }
    }
}

package struct MetricReading: Sendable {
    package enum Points: Sendable {
        case numbers([(labels: [String], value: Double)])
        case histograms([(labels: [String], reading: HistogramReading)])
    }

    package let description: MetricDescription
    package let points: Points
}
