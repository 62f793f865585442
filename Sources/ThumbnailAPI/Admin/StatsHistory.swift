package import Coordination
import JSON

/// Statistics of the last ten minutes, sampled every second (82 kB).
///
/// Sampling runs even without readers, so that a new reader can draw its charts immediately.
package final class StatsHistory: Sendable {
    static let span = Duration.seconds(600)
    static let interval = Duration.seconds(1)

    private let timekeeper: any Timekeeper
    private let read: @Sendable () -> StatsSample
    private let samples = Locked(SampleRing(capacity: Int(span.components.seconds)))

    package init(timekeeper: any Timekeeper, read: @escaping @Sendable () -> StatsSample) {
        self.timekeeper = timekeeper
        self.read = read
    }

    /// Samples every second, until the task is canceled.
    package func run() async {
        var next = timekeeper.now
        while !Task.isCancelled {
            let sample = read()
            samples.withLock { $0.append(sample) }
            next += Self.interval
            // After a suspension of the process, skip missed samples.
            let now = timekeeper.now
            if next <= now { next = now + Self.interval }
            do { try await timekeeper.sleep(until: next) } catch { return }
        }
    }

    /// The members of `stats`, each with its values, oldest first.
    var json: JSONValue {
        let now = timekeeper.now
        let kept = samples.withLock { $0.inOrder }.filter { now - $0.time <= Self.span }
        func list(_ value: (StatsSample) -> Int) -> JSONValue { .array(kept.map { .int(value($0)) }) }
        func seconds(_ duration: (StatsSample) -> Duration) -> JSONValue {
            .array(kept.map { .double((duration($0).seconds * 1_000).rounded() / 1_000) })
        }
        return .object([
            ("ageSeconds", seconds { now - $0.time }),
            ("requests", list { $0.requests }), ("clientErrors", list { $0.clientErrors }),
            ("errors", list { $0.errors }),
            ("hits", list { $0.hits }), ("misses", list { $0.misses }),
            ("decodes", list { $0.decodes }), ("renders", list { $0.renders }),
            ("downloads", .object([("active", list { $0.activeDownloads }), ("queued", list { $0.queuedDownloads })])),
            (
                "workers",
                .object([
                    ("small", .object([("delaySeconds", seconds { $0.smallDelay })])),
                    ("expensive", .object([("delaySeconds", seconds { $0.expensiveDelay })])),
                ])
            ),
            ("memory", .object([("held", list { $0.heldMemory }), ("reserved", list { $0.reservedMemory })])),
        ])
    }
}

/// Counters are totals since the process started; sizes are in bytes.
package struct StatsSample: Sendable, Equatable {
    var time: Duration
    var requests, clientErrors, errors: Int
    var hits, misses, decodes, renders: Int
    var activeDownloads, queuedDownloads: Int
    var heldMemory, reservedMemory: Int
    var smallDelay, expensiveDelay: Duration
}

private struct SampleRing {
    private let capacity: Int
    private var ring: [StatsSample] = []
    private var oldest = 0

    init(capacity: Int) {
        self.capacity = capacity
        ring.reserveCapacity(capacity)
    }

    mutating func append(_ sample: StatsSample) {
        guard ring.count == capacity else { return ring.append(sample) }
        ring[oldest] = sample
        oldest = (oldest + 1) % capacity
    }

    var inOrder: [StatsSample] { Array(ring[oldest...] + ring[..<oldest]) }
}
