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

    /// Counts per bucket, not cumulated, and the sum of all observations; an observation in progress may be in one of
    /// them only.
    package var snapshot: (counts: [Int], sum: Double) {
        (counts.indices.map { counts[$0].load(ordering: .relaxed) }, Double(nanoseconds.load(ordering: .relaxed)) / 1e9)
    }
}

/// The counters of one metric, one for each combination of label values; label values come from fixed sets.
package final class CounterFamily: Sendable {
    private let children = Locked<[[String]: Counter]>([:])

    /// Starts without any labelled counter.
    package init() {}

    /// The counter of these label values, made at first use.
    package func counter(_ labels: String...) -> Counter {
        children.withLock { children in
            if let child = children[labels] { return child }
            let child = Counter()
            children[labels] = child
            return child
        }
    }

    /// The counts of all of them together.
    package var sum: Int { children.withLock { children in children.values.reduce(0) { $0 + $1.value } } }

    /// All counters with their label values, ordered by these.
    package var snapshot: [(labels: [String], value: Int)] {
        children.withLock { children in children.map { ($0.key, $0.value.value) } }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }
}
