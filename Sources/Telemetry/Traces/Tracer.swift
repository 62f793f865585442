package import Coordination
import Synchronization

/// Begins the traces of requests, and keeps finished spans until they are sent.
///
/// It never waits: above ``maximumSpans`` new spans are dropped and counted. A request that is not traced costs one
/// atomic addition.
package final class Tracer: Sendable {
    /// Most spans that wait to be sent.
    static let maximumSpans = 8_192

    private let threshold: UInt64
    private let identifiesAll: Bool
    private let timekeeper: any Timekeeper
    private let sequence: Atomic<UInt64>
    private let waiting = Locked<[Span]>([])
    private let dropped: Counter

    /// A tracer that samples requests.
    ///
    /// - Parameters:
    ///   - sampledShare: 0 for none, 1 for all.
    ///   - identifiesAll: Whether requests that are not sampled have a place in a trace as well, because it is told to
    ///     origins.
    ///   - registry: Gets `alula_trace_spans_dropped_total`.
    ///   - timekeeper: The clock.
    package init(sampledShare: Double, identifiesAll: Bool, registry: MetricsRegistry, timekeeper: any Timekeeper) {
        threshold = sampledShare >= 1 ? .max : UInt64(max(0, sampledShare) * 0x1p64)
        self.identifiesAll = identifiesAll
        self.timekeeper = timekeeper
        sequence = Atomic(.random(in: .min ... .max))
        dropped = registry.counter("alula_trace_spans_dropped_total", help: "Spans that could not be sent.")
    }

    /// The trace of a request that begins; nil if it is neither sampled nor told to anybody.
    ///
    /// - Parameter parent: The place in a trace from which the request was sent; its sampling counts instead of our
    ///   own.
    package func begin(continuing parent: TraceContext? = nil) -> RequestTrace? {
        let isSampled = parent?.isSampled ?? isNextSampled()
        guard isSampled || parent != nil || identifiesAll else { return nil }
        return begin(as: isSampled, continuing: parent)
    }

    private func begin(as isSampled: Bool, continuing parent: TraceContext?) -> RequestTrace {
        let traceID = parent?.traceID ?? TraceContext.TraceID(high: newBits(), low: newBits())
        return RequestTrace(
            TraceContext(traceID: traceID, spanID: newSpanID(), isSampled: isSampled), parentID: parent?.spanID,
            tracer: self, origin: timekeeper.nanosecondsSince1970 &- timekeeper.now.nanoseconds)
    }

    /// The trace of a request that no origin is told of; nil if it is not sampled.
    package func beginSampled() -> RequestTrace? {
        isNextSampled() ? begin(as: true, continuing: nil) : nil
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

    private func isNextSampled() -> Bool {
        guard threshold > 0 else { return false }
        return threshold == .max || nextBits() < threshold
    }

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
