import Coordination
import Downloading
import Settings
import Telemetry

struct Exporters: Sendable {
    private let tasks: [Task<Void, Never>]

    /// - Parameters:
    /// - tracer: Nil without tracing.
    /// - start: When the metrics began to count, in nanoseconds since 1970.
    init(
        _ settings: Settings, tracer: Tracer?, registry: MetricsRegistry, since start: Int64, time: any Timekeeper
    ) {
        func sender(_ collector: ExportSettings.Collector) -> OTLPSender? {
            Collector.post(to: collector, authorities: settings.downloads.certificateAuthorities)
                .map { OTLPSender(timekeeper: time, post: $0) }
        }
        let traces = tracer.flatMap { tracer in
            sender(settings.exports.traces).map {
                TraceExporter(tracer, of: settings.resource, registry: registry, sender: $0).start()
            }
        }
        let metrics = sender(settings.exports.metrics).map {
            MetricsExporter(of: registry, since: start, settings, sender: $0, time: time).start()
        }
        tasks = [traces, metrics].compactMap(\.self)
    }

    func shutDown() async {
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
