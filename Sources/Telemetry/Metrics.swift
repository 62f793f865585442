import Coordination
import Synchronization

/// A number that only grows.
package final class Counter: Sendable {
    private let total = Atomic(0)

    package init() {}

    /// Adds `amount`, which must not be negative.
    package func increment(by amount: Int = 1) { total.wrappingAdd(amount, ordering: .relaxed) }

    /// The count so far.
    package var value: Int { total.load(ordering: .relaxed) }
}

/// A number that grows and falls.
package final class Level: Sendable {
    private let current = Atomic(0)

    package init() {}

    /// Adds `amount`, which may be negative.
    package func change(by amount: Int) { current.wrappingAdd(amount, ordering: .relaxed) }

    /// The number at this moment.
    package var value: Int { current.load(ordering: .relaxed) }
}

/// A distribution over fixed upper bounds, in seconds.
package final class Histogram: Sendable {
    /// Upper bounds of the buckets but the last, which has none.
    package static let secondsBounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private let counts = InlineArray<15, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic(0)

    package init() {
        precondition(counts.count == Self.secondsBounds.count + 1, "one bucket for each bound and one beyond")
    }

    /// Adds one observation in seconds.
    package func observe(_ seconds: Double) {
        let bucket = Self.secondsBounds.firstIndex { seconds <= $0 } ?? Self.secondsBounds.count
        counts[bucket].wrappingAdd(1, ordering: .relaxed)
        nanoseconds.wrappingAdd(Int((seconds * 1e9).rounded()), ordering: .relaxed)
    }

    /// The distribution so far; an observation in progress may be in the counts or in the sum only.
    package var reading: HistogramReading {
        HistogramReading(
            counts: counts.indices.map { counts[$0].load(ordering: .relaxed) },
            nanoseconds: nanoseconds.load(ordering: .relaxed))
    }
}

/// A distribution at one moment.
package struct HistogramReading: Equatable, Sendable {
    /// Observations per bucket, not cumulated.
    package private(set) var counts: [Int]
    private var nanoseconds: Int

    /// A distribution without any observation.
    static let empty = HistogramReading(
        counts: Array(repeating: 0, count: Histogram.secondsBounds.count + 1), nanoseconds: 0)

    /// A distribution with these counts, and the sum of all observations.
    init(counts: [Int], nanoseconds: Int) {
        self.counts = counts
        self.nanoseconds = nanoseconds
    }

    /// All observations.
    var count: Int { counts.reduce(0, +) }

    /// The sum of all observations, in seconds.
    package var sum: Double { Double(nanoseconds) / 1e9 }

    /// The observations of both.
    static func + (left: HistogramReading, right: HistogramReading) -> HistogramReading {
        combined(left, right, &+)
    }

    /// The observations of `left` that `right` has not.
    static func - (left: HistogramReading, right: HistogramReading) -> HistogramReading {
        combined(left, right, &-)
    }

    private static func combined(
        _ left: HistogramReading, _ right: HistogramReading, _ combine: (Int, Int) -> Int
    ) -> HistogramReading {
        HistogramReading(
            counts: zip(left.counts, right.counts).map(combine),
            nanoseconds: combine(left.nanoseconds, right.nanoseconds))
    }
}

/// The parts of one metric, one for each combination of label values; label values come from fixed sets.
package final class MetricFamily<Part: Sendable>: Sendable {
    private let parts = Locked<[[String]: Part]>([:])
    private let make: @Sendable () -> Part

    init(making make: @escaping @Sendable () -> Part) {
        self.make = make
    }

    /// The part with these label values, made at first use.
    func part(_ labels: [String]) -> Part {
        parts.withLock { parts in
            if let part = parts[labels] { return part }
            let part = make()
            parts[labels] = part
            return part
        }
    }

    /// All parts with their label values, ordered by these.
    var all: [(labels: [String], part: Part)] {
        parts.withLock { parts in parts.map { ($0.key, $0.value) } }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }
}

/// The counters of one metric.
package typealias CounterFamily = MetricFamily<Counter>

extension CounterFamily {
    /// Starts without any labeled counter.
    package convenience init() { self.init { Counter() } }

    /// The counter of these label values, made at first use.
    package func counter(_ labels: String...) -> Counter { part(labels) }

    /// The counts of all of them together.
    package var sum: Int { all.reduce(0) { $0 + $1.part.value } }

    /// All counters with their label values, ordered by these.
    package var snapshot: [(labels: [String], value: Int)] { all.map { ($0.labels, $0.part.value) } }
}

/// The levels of one metric.
package typealias LevelFamily = MetricFamily<Level>

extension LevelFamily {
    /// Starts without any level.
    package convenience init() { self.init { Level() } }

    /// The level of these attribute values, made at first use.
    package func level(_ attributes: String...) -> Level { part(attributes) }

    /// All levels with their attribute values, ordered by these.
    package var snapshot: [(attributes: [String], value: Int)] { all.map { ($0.labels, $0.part.value) } }
}

/// The histograms of one metric.
package typealias HistogramFamily = MetricFamily<Histogram>

extension HistogramFamily {
    /// The histogram of these attribute values, made at first use; an empty one stands for no attribute.
    package func histogram(_ attributes: String...) -> Histogram { part(attributes) }
}
