package import Coordination
import Synchronization

/// Begins the traces of requests, and keeps finished spans until they are sent.
///
/// It never waits: above ``maximumSpans`` new spans are dropped and counted. A request that is not traced costs one
/// atomic addition.
package final class Tracer: Sendable {
    /// Most spans that wait to be sent.
    static let maximumSpans = 8_192

    private let sampler: TraceSampler
    private let identifiesAll: Bool
    private let timekeeper: any Timekeeper
    private let sequence: Atomic<UInt64>
    private let waiting = Locked<[Span]>([])
    private let dropped: Counter

    /// A tracer that samples requests.
    ///
    /// - Parameters:
    ///   - sampler: Decides which ones.
    ///   - identifiesAll: Whether requests that are not sampled have a place in a trace as well, because it is told to
    ///     origins.
    ///   - registry: Gets `alula_trace_spans_dropped_total`.
    ///   - timekeeper: The clock.
    package init(
        _ sampler: TraceSampler, identifiesAll: Bool, registry: MetricsRegistry, timekeeper: any Timekeeper
    ) {
        self.sampler = sampler
        self.identifiesAll = identifiesAll
        self.timekeeper = timekeeper
        sequence = Atomic(.random(in: .min ... .max))
        dropped = registry.counter(
            "alula_trace_spans_dropped_total", help: "Spans that could not be sent.", counting: "span")
    }

    /// The trace of a request that begins; nil if it is neither sampled nor told to anybody.
    ///
    /// - Parameter parent: The place in a trace from which the request was sent; its sampling counts instead of our
    ///   own, if the sampler says so.
    package func begin(continuing parent: TraceContext? = nil) -> RequestTrace? {
        guard let parent else { return identifiesAll ? beginNew() : beginSampled() }
        let isSampled = sampler.followsCaller ? parent.isSampled : sampler.takes(parent.traceID.low)
        return trace(parent.traceID, within: parent.spanID, isSampled: isSampled)
    }

    /// The trace of a request that no origin is told of; nil if it is not sampled.
    package func beginSampled() -> RequestTrace? {
        guard !sampler.takesNone, case let low = newBits(), sampler.takes(low) else { return nil }
        return trace(TraceContext.TraceID(high: newBits(), low: low), within: nil, isSampled: true)
    }

    private func beginNew() -> RequestTrace {
        let traceID = TraceContext.TraceID(high: newBits(), low: newBits())
        return trace(traceID, within: nil, isSampled: sampler.takes(traceID.low))
    }

    private func trace(
        _ traceID: TraceContext.TraceID, within parentID: TraceContext.SpanID?, isSampled: Bool
    ) -> RequestTrace {
        RequestTrace(
            TraceContext(traceID: traceID, spanID: newSpanID(), isSampled: isSampled), parentID: parentID,
            tracer: self, origin: timekeeper.nanosecondsSince1970 &- timekeeper.now.nanoseconds)
    }

    /// Takes out the spans that wait, at most `limit` of them.
    package func takeSpans(atMost limit: Int) -> [Span] {
        waiting.withLock { waiting in
            let batch = Array(waiting.prefix(limit))
            waiting.removeFirst(batch.count)
            return batch
        }
    }

    /// Counts spans that were given up.
    package func countDropped(_ count: Int) { dropped.increment(by: count) }

    func take(_ span: Span) {
        let isTaken = waiting.withLock { waiting in
            guard waiting.count < Self.maximumSpans else { return false }
            waiting.append(span)
            return true
        }
        if !isTaken { dropped.increment() }
    }

    func newSpanID() -> TraceContext.SpanID { TraceContext.SpanID(bits: newBits()) }

    /// Bits that are not all zero.
    private func newBits() -> UInt64 {
        let bits = nextBits()
        return bits == 0 ? 1 : bits
    }

    /// The next number of SplitMix64 (Steele, Lea and Flood, 2014): good enough for names that need not be secret, and
    /// any thread may take one without a lock.
    private func nextBits() -> UInt64 {
        var bits = sequence.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }
}
