import Coordination
import JSON

/// The metrics of the process and their Prometheus text (exposition format 0.0.4).
package final class MetricsRegistry: Sendable {
    /// Reads a metric's samples at each scrape.
    package typealias Reader = @Sendable () -> [(labels: [String], value: Double)]

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Metric: Sendable {
        let name: String
        let help: String
        let kind: Kind
        let labelNames: [String]
        let read: Reader
        var histogram: Histogram?
    }

    private let metrics = Locked<[Metric]>([])

    package init() {}

    /// Registers a counter without labels.
    package func counter(_ name: String, help: String) -> Counter {
        let counter = Counter()
        add(Metric(name: name, help: help, kind: .counter, labelNames: []) { [([], Double(counter.value))] })
        return counter
    }

    /// Registers a counter with labels of these names.
    package func counters(_ name: String, help: String, labels: String...) -> CounterFamily {
        let family = CounterFamily()
        add(
            Metric(name: name, help: help, kind: .counter, labelNames: labels) {
                family.snapshot.map { ($0.labels, Double($0.value)) }
            })
        return family
    }

    /// Registers a histogram of seconds.
    package func histogram(_ name: String, help: String) -> Histogram {
        let histogram = Histogram()
        add(Metric(name: name, help: help, kind: .histogram, labelNames: [], read: { [] }, histogram: histogram))
        return histogram
    }

    /// Registers a value that is read at each scrape; `isCounter` if it never falls.
    package func gauge(_ name: String, help: String, labels: String..., isCounter: Bool = false, read: @escaping Reader)
    {
        add(Metric(name: name, help: help, kind: isCounter ? .counter : .gauge, labelNames: labels, read: read))
    }

    /// All metrics in Prometheus' text format, in order of registration.
    package var prometheusText: String {
        var text = ""
        for metric in metrics.withLock({ $0 }) {
            text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            if let histogram = metric.histogram {
                text += Self.lines(of: histogram, name: metric.name)
            } else {
                for sample in metric.read() {
                    let labels = zip(metric.labelNames, sample.labels).map { "\($0)=\(JSONText.string($1))" }
                    let suffix = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
                    text += "\(metric.name)\(suffix) \(Self.number(sample.value))\n"
                }
            }
        }
        return text
    }

    private func add(_ metric: Metric) {
        metrics.withLock { metrics in
            precondition(!metrics.contains { $0.name == metric.name }, "metric \(metric.name) is registered twice")
            metrics.append(metric)
        }
    }

    private static func lines(of histogram: Histogram, name: String) -> String {
        let (counts, sum) = histogram.snapshot
        var text = ""
        var cumulated = 0
        for (count, bound) in zip(counts, Histogram.secondsBounds.map { number($0) } + ["+Inf"]) {
            cumulated += count
            text += "\(name)_bucket{le=\"\(bound)\"} \(cumulated)\n"
        }
        return text + "\(name)_sum \(number(sum))\n\(name)_count \(cumulated)\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : "\(value)"
    }
}
