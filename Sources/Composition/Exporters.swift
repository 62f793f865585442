import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry

struct Exporters: Sendable {
    private let tasks: [Task<Void, Never>]

    /// - Parameters:
    ///   - tracer: The tracer; nil if tracing is off.
    ///   - start: The time at which metrics started, in nanoseconds since 1970.
    init(
        _ settings: Settings, tracer: Tracer?, registry: MetricsRegistry, since start: Int64, timekeeper: any Timekeeper
    ) {
        func sender(_ collector: ExportSettings.Collector) -> OTLPSender? {
            Collector.post(to: collector, authorities: settings.downloads.certificateAuthorities)
                .map { OTLPSender(timekeeper: timekeeper, post: $0) }
        }
        let traces = tracer.flatMap { tracer in
            sender(settings.exports.traces).map {
                TraceExporter(tracer, of: settings.resource, registry: registry, sender: $0).start()
            }
        }
        let metrics = sender(settings.exports.metrics).map {
            MetricsExporter(of: registry, since: start, settings: settings, sender: $0, timekeeper: timekeeper).start()
        }
        tasks = [traces, metrics].compactMap(\.self)
    }

    func shutDown() async {
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

enum Collector {
    /// Returns a function that posts on a separate thread, because posting may block; nil without an endpoint.
    static func post(to collector: ExportSettings.Collector, authorities: String?) -> OTLPSender.Post? {
        guard let url = collector.endpoint?.canonical else { return nil }
        var fields: HTTPFields = [.contentType: "application/json", .userAgent: "Alula/" + Program.version]
        for field in collector.fields { fields.append(field.name, field.value) }
        return { [fields] document, timeLimit in
            let request = HTTPRequest(method: .post, target: "", headerFields: fields, body: SharedBytes(document))
            let reply = await WorkThread.value(named: "collector") {
                blockingReply(to: request, at: url, timeLimit: timeLimit, authorities: authorities)
            }
            return reply ?? .none
        }
    }

    private static func blockingReply(
        to request: HTTPRequest, at url: String, timeLimit: Duration, authorities: String?
    ) -> OTLPSender.Reply {
        do throws(HTTPClient.Failure) {
            let response = try HTTPClient.blockingSend(
                request, to: url, timeLimit: timeLimit, authorities: authorities, maximumBodyBytes: nil)
            return .status(response.status, retryAfter: response.retryAfter)
        } catch {
            return .none
        }
    }
}

extension Settings {
    var resource: OTLPResource {
        OTLPResource(resourceAttributes.map { ($0.name, .string($0.value)) }, version: Program.version)
    }
}

/// Sends finished spans in batches once a second.
///
/// Requests never wait for the exporter: if a collector is slow or unreachable, spans wait up to the tracer's limit,
/// and further spans are dropped.
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

    func start() -> Task<Void, Never> { Task { await sender.run(every: Self.interval, sendWaiting(until:)) } }

    /// - Parameter end: The time to stop, also after a failed send; nil continues until the task is canceled.
    func sendWaiting(until end: Duration? = nil) async {
        while end != nil || !Task.isCancelled, case let spans = tracer.dequeueSpans(atMost: Self.batchSize),
            !spans.isEmpty
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
    func tracer(registry: MetricsRegistry, timekeeper: any Timekeeper) -> Tracer? {
        let propagatesTraces = downloads.origins.all.contains(where: \.propagatesTraces)
        let isSent = exports.traces.endpoint != nil
        guard isSent || propagatesTraces else { return nil }
        return Tracer(
            isSent ? exports.sampler : TraceSampler(ratio: 0), propagatesAll: propagatesTraces, registry: registry,
            timekeeper: timekeeper)
    }
}

/// Sends one document per interval; if a send fails, the next document includes its counts.
struct MetricsExporter: Sendable {
    private let registry: MetricsRegistry
    private let resource: OTLPResource
    private let sender: OTLPSender
    private let timekeeper: any Timekeeper
    private let interval: Duration
    private let beginning: MetricTimeline
    private let documents: CounterFamily

    /// - Parameter start: The time at which metrics started, in nanoseconds since 1970.
    init(
        of registry: MetricsRegistry, since start: Int64, settings: Settings, sender: OTLPSender,
        timekeeper: any Timekeeper
    ) {
        self.registry = registry
        self.sender = sender
        resource = settings.resource
        interval = settings.exports.interval
        self.timekeeper = timekeeper
        beginning = MetricTimeline(settings.exports.temporality, since: UInt64(clamping: start))
        documents = registry.counters(
            "alula_metric_documents_total", help: "Metric documents by result.", labels: "result", counting: "document")
        for result in ["taken", "lost"] { _ = documents.counter(result) }
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
