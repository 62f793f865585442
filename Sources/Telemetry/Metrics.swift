import Coordination
import Synchronization

package final class Counter: Sendable {
    private let total = Atomic(0)

    package init() {}

    /// - Parameter amount: Not negative.
    package func increment(by amount: Int = 1) { total.wrappingAdd(amount, ordering: .relaxed) }

    package var value: Int { total.load(ordering: .relaxed) }
}

package final class UpDownCounter: Sendable {
    private let current = Atomic(0)

    package init() {}

    package func add(_ amount: Int) { current.wrappingAdd(amount, ordering: .relaxed) }

    package var value: Int { current.load(ordering: .relaxed) }
}

/// Counts durations in fixed buckets, in seconds.
package final class Histogram: Sendable {
    /// The upper bounds of all buckets but the last, which is unbounded.
    package static let secondsBounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private let counts = InlineArray<15, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic(0)
    /// The last exemplar of each bucket.
    private let exemplars = Locked<[Int: Exemplar]>([:])

    package init() {
        precondition(counts.count == Self.secondsBounds.count + 1, "one bucket for each bound and one beyond")
    }

    /// - Parameter traceID: A recorded trace that explains the value.
    package func observe(_ seconds: Double, traceID: String? = nil) {
        let bucket = Self.secondsBounds.firstIndex { seconds <= $0 } ?? Self.secondsBounds.count
        if let traceID { exemplars.withLock { $0[bucket] = Exemplar(traceID: traceID, value: seconds) } }
        counts[bucket].wrappingAdd(1, ordering: .relaxed)
        nanoseconds.wrappingAdd(Int((seconds * 1e9).rounded()), ordering: .relaxed)
    }

    /// A concurrent observation may be included only in the counts or only in the sum.
    package var reading: HistogramReading {
        HistogramReading(
            counts: counts.indices.map { counts[$0].load(ordering: .relaxed) },
            nanoseconds: nanoseconds.load(ordering: .relaxed), exemplars: exemplars.withLock { $0 })
    }
}

/// A trace in which a value was observed.
struct Exemplar: Equatable, Sendable {
    let traceID: String
    let value: Double
}

package struct HistogramReading: Equatable, Sendable {
    /// The count of each bucket, not cumulative.
    package private(set) var counts: [Int]
    private var nanoseconds: Int
    /// Exemplars by bucket.
    let exemplars: [Int: Exemplar]

    static let empty = HistogramReading(
        counts: Array(repeating: 0, count: Histogram.secondsBounds.count + 1), nanoseconds: 0)

    init(counts: [Int], nanoseconds: Int, exemplars: [Int: Exemplar] = [:]) {
        self.counts = counts
        self.nanoseconds = nanoseconds
        self.exemplars = exemplars
    }

    var count: Int { counts.reduce(0, +) }

    /// In seconds.
    package var sum: Double { Double(nanoseconds) / 1e9 }

    static func + (left: HistogramReading, right: HistogramReading) -> HistogramReading {
        combined(left, right, by: &+)
    }

    static func - (left: HistogramReading, right: HistogramReading) -> HistogramReading {
        combined(left, right, by: &-)
    }

    private static func combined(
        _ left: HistogramReading, _ right: HistogramReading, by combine: (Int, Int) -> Int
    ) -> HistogramReading {
        HistogramReading(
            counts: zip(left.counts, right.counts).map(combine),
            nanoseconds: combine(left.nanoseconds, right.nanoseconds),
            exemplars: left.exemplars.merging(right.exemplars) { $1 })
    }
}

/// One instance per combination of label values, which come from fixed sets.
package final class MetricFamily<Instrument: Sendable>: Sendable {
    private let instruments = Locked<[[String]: Instrument]>([:])
    private let makeInstrument: @Sendable () -> Instrument

    init(making makeInstrument: @escaping @Sendable () -> Instrument) { self.makeInstrument = makeInstrument }

    func instrument(_ labels: [String]) -> Instrument {
        instruments.withLock { instruments in
            if let instrument = instruments[labels] { return instrument }
            let instrument = makeInstrument()
            instruments[labels] = instrument
            return instrument
        }
    }

    var all: [(labels: [String], instrument: Instrument)] {
        instruments.withLock { instruments in instruments.map { ($0.key, $0.value) } }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }
}

package typealias CounterFamily = MetricFamily<Counter>

extension CounterFamily {
    package convenience init() { self.init { Counter() } }

    package func counter(_ labels: String...) -> Counter { instrument(labels) }

    package var sum: Int { all.reduce(0) { $0 + $1.instrument.value } }

    package var snapshot: [(labels: [String], value: Int)] { all.map { ($0.labels, $0.instrument.value) } }
}

package typealias UpDownCounterFamily = MetricFamily<UpDownCounter>

extension UpDownCounterFamily {
    package convenience init() { self.init { UpDownCounter() } }

    package func upDownCounter(_ attributes: String...) -> UpDownCounter { instrument(attributes) }

    package var snapshot: [(attributes: [String], value: Int)] { all.map { ($0.labels, $0.instrument.value) } }
}

package typealias HistogramFamily = MetricFamily<Histogram>

extension HistogramFamily {
    /// Created on first use; an empty value omits the attribute.
    package func histogram(_ attributes: String...) -> Histogram { instrument(attributes) }
}
