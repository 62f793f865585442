/// Totals, or changes since the last document (OpenTelemetry, "Temporality Preference").
package enum MetricTemporality: String, CaseIterable, Sendable {
    case cumulative
    case delta
    /// Like `delta` for metrics counted here; metrics read elsewhere are sent as totals, so that no earlier value is
    /// kept.
    case lowmemory

    func isDelta(_ metric: MetricDescription) -> Bool {
        switch self {
        case .cumulative: false
        case .delta: metric.kind != .gauge
        case .lowmemory: metric.kind != .gauge && !metric.isAsynchronous
        }
    }
}

/// The points of a document.
///
/// Changes are relative to the last document that the collector accepted: if a document is lost, the next one includes
/// its changes.
package struct MetricTimeline: Sendable {
    struct Metric {
        let description: MetricDescription
        let otlp: OTLPMetric
        let isDelta: Bool
        let points: [Point]
    }

    struct Point {
        let attributes: [String]
        let start: UInt64
        let value: Value
    }

    enum Value: Equatable {
        case number(Double)
        case histogram(HistogramReading)
    }

    private struct Key: Hashable {
        let name: String
        let attributes: [String]
    }

    private let temporality: MetricTemporality
    private let start: UInt64
    private var accepted: (time: UInt64, values: [Key: Value])

    /// - Parameter start: In nanoseconds since 1970, when all counts are 0.
    package init(_ temporality: MetricTemporality, since start: UInt64) {
        self.temporality = temporality
        self.start = start
        accepted = (start, [:])
    }

    /// The time of a document, never before an earlier one, even if the clock was set back.
    package func time(at moment: UInt64) -> UInt64 { max(moment, accepted.time) }

    func metrics(_ readings: [MetricReading]) -> [Metric] {
        readings.compactMap { reading in
            guard let otlp = reading.description.otlp else { return nil }
            let isDelta = temporality.isDelta(reading.description)
            let points = reading.values.compactMap { attributes, total -> Point? in
                guard isDelta else { return Point(attributes: attributes, start: start, value: total) }
                let earlier = accepted.values[Key(name: reading.description.name, attributes: attributes)]
                guard let value = total.change(since: earlier) else { return nil }
                return Point(attributes: attributes, start: accepted.time, value: value)
            }
            guard !points.isEmpty else { return nil }
            return Metric(description: reading.description, otlp: otlp, isDelta: isDelta, points: points)
        }
    }

    package mutating func accept(_ readings: [MetricReading], at time: UInt64) {
        accepted.time = time
        for reading in readings where temporality.isDelta(reading.description) {
            for (attributes, total) in reading.values {
                accepted.values[Key(name: reading.description.name, attributes: attributes)] = total
            }
        }
    }
}

extension MetricReading {
    fileprivate var values: [(attributes: [String], value: MetricTimeline.Value)] {
        switch points {
        case .numbers(let samples): samples.map { ($0.labels, .number($0.value)) }
        case .histograms(let samples): samples.map { ($0.labels, .histogram($0.reading)) }
        }
    }
}

extension MetricTimeline.Value {
    /// The whole total of a restarted counter; nil if nothing changed.
    fileprivate func change(since earlier: MetricTimeline.Value?) -> MetricTimeline.Value? {
        switch (self, earlier) {
        case (.number(let total), .number(let before)?) where total >= before:
            total == before ? nil : .number(total - before)
        case (.histogram(let total), .histogram(let before)?):
            total == before ? nil : .histogram(total - before)
        case (.number(0), _): nil
        case (.histogram(let total), _): total.count == 0 ? nil : self
        case (.number, _): self
        }
    }
}
