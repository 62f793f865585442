import Coordination
import Settings
import Telemetry

/// Only one document is sent at a time, and none waits: if a send fails, the next document includes its counts.
struct MetricsExporter: Sendable {
    private let registry: MetricsRegistry
    private let resource: OTLPResource
    private let sender: OTLPSender
    private let timekeeper: any Timekeeper
    private let interval: Duration
    private let beginning: MetricTimeline
    private let documents: CounterFamily

    /// - Parameter start: When the metrics began to count, in nanoseconds since 1970.
    init(
        of registry: MetricsRegistry, since start: Int64, _ settings: Settings, sender: OTLPSender,
        time: any Timekeeper
    ) {
        self.registry = registry
        self.sender = sender
        resource = settings.resource
        interval = settings.exports.interval
        timekeeper = time
        beginning = MetricTimeline(settings.exports.temporality, since: UInt64(clamping: start))
        documents = registry.counters(
            "alula_metric_documents_total", help: "Metric documents by result.",
            labels: "result", counting: "document")
    }

    func start() -> Task<Void, Never> {
        Task {
            var timeline = beginning
            await sender.run(every: interval) { end in await send(&timeline, until: end) }
        }
    }

    private func send(_ timeline: inout MetricTimeline, until end: Duration?) async {
        let time = timeline.time(at: UInt64(clamping: timekeeper.nanosecondsSince1970))
        let readings = registry.readings
        let isTaken = await sender.send(
            MetricDocument.bytes(readings, at: time, in: timeline, of: resource), until: end)
        documents.counter(isTaken ? "taken" : "lost").increment()
        if isTaken { timeline.accept(readings, at: time) }
    }
}
