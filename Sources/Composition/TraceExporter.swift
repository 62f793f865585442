import Coordination
import Downloading
import Settings
import Telemetry

/// Sends finished spans to a collector, once a second and many at a time.
///
/// Requests never wait for it: while a collector is slow or away, spans wait up to the tracer's bound, and the rest are
/// dropped.
struct TraceExporter: Sendable {
    /// Most spans of one document.
    static let batchSize = 512
    private static let interval = Duration.seconds(1)

    private let tracer: Tracer
    private let resource: OTLPResource
    private let sender: OTLPSender
    private let exported: Counter

    /// An exporter of the spans of `tracer`.
    init(_ tracer: Tracer, of resource: OTLPResource, registry: MetricsRegistry, sender: OTLPSender) {
        self.tracer = tracer
        self.resource = resource
        self.sender = sender
        exported = registry.counter(
            "alula_trace_spans_exported_total", help: "Spans that the collector has taken.", counting: "span")
    }

    /// Sends spans in a task until that is cancelled, and those that wait then.
    func start() -> Task<Void, Never> {
        Task { await sender.run(every: Self.interval, sendWaiting(until:)) }
    }

    /// Sends all spans that wait.
    ///
    /// - Parameter end: When it must be done, which a document that is not taken brings about at once; nil to go on
    ///   until the task is cancelled.
    func sendWaiting(until end: Duration? = nil) async {
        while end != nil || !Task.isCancelled, case let spans = tracer.takeSpans(atMost: Self.batchSize), !spans.isEmpty
        {
            if await sender.send(SpanDocument.bytes(spans, of: resource), until: end) {
                exported.increment(by: spans.count)
            } else {
                tracer.countDropped(spans.count)
                if end != nil { return }
            }
        }
    }
}

extension Settings {
    /// The tracer; nil if spans are neither sent nor told to origins.
    func tracer(registry: MetricsRegistry, time: any Timekeeper) -> Tracer? {
        let isTold = downloads.origins.all.contains(where: \.tellsTraces)
        let isSent = exports.traces.endpoint != nil
        guard isSent || isTold else { return nil }
        return Tracer(
            isSent ? exports.sampler : TraceSampler(share: 0), identifiesAll: isTold, registry: registry,
            timekeeper: time)
    }
}
