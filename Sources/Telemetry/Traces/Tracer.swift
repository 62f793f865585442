package import Coordination
import Synchronization

/// Begins the traces of requests, and stores finished spans until they are sent.
///
/// It never waits: beyond ``maximumSpans``, new spans are dropped and counted. An untraced request costs one atomic
/// addition.
package final class Tracer: Sendable {
    static let maximumSpans = 8_192

    private let sampler: TraceSampler
    private let propagatesAll: Bool
    private let timekeeper: any Timekeeper
    private let sequence: Atomic<UInt64>
    private let queue = Locked<[Span]>([])
    private let dropped: Counter

    /// - Parameter propagatesAll: Requests that are not sampled get a trace context too, to propagate it to origins.
    package init(_ sampler: TraceSampler, propagatesAll: Bool, registry: MetricsRegistry, timekeeper: any Timekeeper) {
        self.sampler = sampler
        self.propagatesAll = propagatesAll
        self.timekeeper = timekeeper
        sequence = Atomic(.random(in: .min ... .max))
        dropped = registry.counter(
            "alula_trace_spans_dropped_total", help: "Spans that were not sent.", counting: "span")
    }

    /// Returns nil if the request is neither sampled nor propagated.
    ///
    /// - Parameter parent: The caller's context; if the sampler follows the caller, it decides on sampling.
    package func begin(continuing parent: TraceContext? = nil) -> RequestTrace? {
        guard let parent else { return propagatesAll ? beginNew() : beginIfSampled() }
        let isSampled = sampler.isParentBased ? parent.isSampled : sampler.samples(parent.traceID.low)
        return trace(parent.traceID, within: parent.spanID, isSampled: isSampled)
    }

    package func beginIfSampled() -> RequestTrace? {
        guard !sampler.isAlwaysOff, case let low = newBits(), sampler.samples(low) else { return nil }
        return trace(TraceContext.TraceID(high: newBits(), low: low), within: nil, isSampled: true)
    }

    private func beginNew() -> RequestTrace {
        let traceID = TraceContext.TraceID(high: newBits(), low: newBits())
        return trace(traceID, within: nil, isSampled: sampler.samples(traceID.low))
    }

    private func trace(
        _ traceID: TraceContext.TraceID, within parentID: TraceContext.SpanID?, isSampled: Bool
    ) -> RequestTrace {
        RequestTrace(
            TraceContext(traceID: traceID, spanID: newSpanID(), isSampled: isSampled), parentID: parentID,
            tracer: self, clockStart: timekeeper.nanosecondsSince1970 &- timekeeper.now.nanoseconds)
    }

    package func dequeueSpans(atMost limit: Int) -> [Span] {
        queue.withLock { queue in
            let batch = Array(queue.prefix(limit))
            queue.removeFirst(batch.count)
            return batch
        }
    }

    package func countDropped(_ count: Int) { dropped.increment(by: count) }

    func enqueue(_ span: Span) {
        let isQueued = queue.withLock { queue in
            guard queue.count < Self.maximumSpans else { return false }
            queue.append(span)
            return true
        }
        if !isQueued { dropped.increment() }
    }

    func newSpanID() -> TraceContext.SpanID { TraceContext.SpanID(bits: newBits()) }

    private func newBits() -> UInt64 {
        let bits = nextBits()
        return bits == 0 ? 1 : bits
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014): good enough for names that need not be secret, and lock-free.
    private func nextBits() -> UInt64 {
        var bits = sequence.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}

/// Decides which requests are traced (OpenTelemetry, "Sampler").
package struct TraceSampler: Equatable, Sendable {
    package let isParentBased: Bool
    /// Traces whose 63 lowest bits are below it are recorded.
    private let threshold: UInt64

    /// - Parameter ratio: The sampled fraction of traces, 0…1.
    package init(ratio: Double, isParentBased: Bool = true) {
        self.isParentBased = isParentBased
        threshold = ratio >= 1 ? 1 << 63 : UInt64(max(0, ratio) * 0x1p63)
    }

    var isAlwaysOff: Bool { threshold == 0 }

    /// Decides by the 64 lowest bits of the trace identifier, so that all services with the same ratio agree
    /// ("TraceIdRatioBased").
    func samples(_ bits: UInt64) -> Bool { bits >> 1 < threshold }
}
