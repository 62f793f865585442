import Coordination
import Downloading
import Settings
import Telemetry

/// In batches once a second.
///
/// Requests never wait for it: while a collector is slow or unreachable, spans wait up to the tracer's limit, and the
/// rest are dropped.
struct TraceExporter: Sendable {
    static let batchSize = 512
    private static let interval = Duration.seconds(1)

    private let tracer: Tracer
    private let resource: OTLPResource
    private let sender: OTLPSender
    private let exported: Counter

    init(_ tracer: Tracer, of resource: OTLPResource, registry: MetricsRegistry, sender: OTLPSender) {
        self.tracer = tracer
        self.resource = resource
        self.sender = sender
        exported = registry.counter(
            "alula_trace_spans_exported_total", help: "Spans accepted by the collector.", counting: "span")
    }

    func start() -> Task<Void, Never> {
        Task { await sender.run(every: Self.interval, sendWaiting(until:)) }
    }

    /// - Parameter end: A failed send also ends it early; nil continues until the task is canceled.
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
    func tracer(registry: MetricsRegistry, time: any Timekeeper) -> Tracer? {
        let isTold = downloads.origins.all.contains(where: \.propagatesTraces)
        let isSent = exports.traces.endpoint != nil
        guard isSent || isTold else { return nil }
        return Tracer(
            isSent ? exports.sampler : TraceSampler(share: 0), propagatesAll: isTold, registry: registry,
            timekeeper: time)
    }
}
