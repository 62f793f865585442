/// Whether metrics are sent as totals, or as what is new since the last document (OpenTelemetry, "Temporality
/// Preference").
package enum MetricTemporality: String, CaseIterable, Sendable {
    /// All as totals since the start.
    case cumulative
    /// Counters and histograms as what is new.
    case delta
    /// The same for those that are counted here; those that are read elsewhere as totals, so that no earlier value has
    /// to be kept.
    case lowmemory

    /// Whether a metric's points are what is new.
    func isDelta(_ metric: MetricDescription) -> Bool {
        switch self {
        case .cumulative: false
        case .delta: metric.kind != .gauge
        case .lowmemory: metric.kind != .gauge && !metric.isObserved
        }
    }
}

/// Turns the values of metrics at one moment into the points of a document.
///
/// New is what no document that was taken has told: if one is lost, the next one tells it as well.
package struct MetricTimeline: Sendable {
    /// A metric with its points; its description has a name for OpenTelemetry.
    struct Metric {
        let description: MetricDescription
        let otlp: OTLPMetric
        let isDelta: Bool
        let points: [Point]
    }

    /// A value of one combination of attributes, and the time that it is about, in nanoseconds since 1970.
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
    /// The moment of the last document that was taken, and the totals then.
    private var told: (time: UInt64, values: [Key: Value])

    /// A timeline that begins at `start`, in nanoseconds since 1970, when all counts are 0.
    package init(_ temporality: MetricTemporality, since start: UInt64) {
        self.temporality = temporality
        self.start = start
        told = (start, [:])
    }

    /// The time of a document at `moment`: never before that of an earlier one, if the clock was set back.
    package func time(at moment: UInt64) -> UInt64 { max(moment, told.time) }

    /// The metrics that a document tells: all with points, and those points of which something is to be told.
    func metrics(_ readings: [MetricReading]) -> [Metric] {
        readings.compactMap { reading in
            guard let otlp = reading.description.otlp else { return nil }
            let isDelta = temporality.isDelta(reading.description)
            let points = reading.values.compactMap { attributes, total -> Point? in
                guard isDelta else { return Point(attributes: attributes, start: start, value: total) }
                let earlier = told.values[Key(name: reading.description.name, attributes: attributes)]
                guard let value = total.new(since: earlier) else { return nil }
                return Point(attributes: attributes, start: told.time, value: value)
            }
            guard !points.isEmpty else { return nil }
            return Metric(description: reading.description, otlp: otlp, isDelta: isDelta, points: points)
        }
    }

    /// The collector has taken a document with these values.
    package mutating func take(_ readings: [MetricReading], at time: UInt64) {
        told.time = time
        for reading in readings where temporality.isDelta(reading.description) {
            for (attributes, total) in reading.values {
                told.values[Key(name: reading.description.name, attributes: attributes)] = total
            }
        }
    }
}

extension MetricReading {
    fileprivate var values: [(attributes: [String], value: MetricTimeline.Value)] {
        switch points {
        case .numbers(let samples): samples.map { ($0.labels, .number($0.value)) }
        case .histograms(let parts): parts.map { ($0.labels, .histogram($0.reading)) }
        }
    }
}

extension MetricTimeline.Value {
    /// This total less an earlier one, or the whole of a counter that was begun anew; nil if there is nothing new.
    fileprivate func new(since earlier: MetricTimeline.Value?) -> MetricTimeline.Value? {
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
