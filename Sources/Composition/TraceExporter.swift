import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry

/// Sends finished spans to a collector, once a second and many at a time, in OTLP's JSON form.
///
/// Requests never wait for it: while a collector is slow or away, spans wait up to the tracer's bound, and the rest are
/// dropped.
struct TraceExporter: Sendable {
    /// Sends a document, and says how it went.
    ///
    /// Called in a task; may take its time.
    typealias Sender = @Sendable (_ document: [UInt8]) async -> Delivery

    /// The result of sending spans.
    enum Delivery: Sendable {
        /// The collector has the spans.
        case sent
        /// The collector could not take them now (OTLP/HTTP specification, "Retryable Response Codes"), or did not
        /// answer.
        case failed
        /// The collector refused them for good.
        case refused
    }

    /// Most spans of one document.
    static let batchSize = 512
    /// How often one document is sent at most.
    static let attempts = 3
    private static let pause = Duration.seconds(1)

    private let tracer: Tracer
    private let resource: Span.Attributes
    private let exported: Counter
    private let send: Sender
    private let timekeeper: any Timekeeper

    /// An exporter of the spans of `tracer`.
    package init(
        _ tracer: Tracer, instance: String, registry: MetricsRegistry, timekeeper: any Timekeeper,
        send: @escaping Sender
    ) {
        self.tracer = tracer
        resource = [
            ("service.name", "alula"), ("service.version", .string(Program.version)),
            ("service.instance.id", .string(instance)),
        ]
        exported = registry.counter("alula_trace_spans_exported_total", help: "Spans that the collector has taken.")
        self.timekeeper = timekeeper
        self.send = send
    }

    /// An exporter to the collector that the settings name; nil if they name none.
    init?(_ tracer: Tracer, _ settings: Settings, registry: MetricsRegistry, time: any Timekeeper) {
        guard let endpoint = settings.traces.endpoint else { return nil }
        self.init(
            tracer, instance: settings.sharedCache.instance, registry: registry, timekeeper: time,
            send: Self.sender(to: endpoint.canonical, authorities: settings.downloads.certificateAuthorities))
    }

    /// Sends spans in a task until that is cancelled.
    func start() -> Task<Void, Never> { Task { await run() } }

    /// Sends spans until the task is cancelled, and once more then.
    func run() async {
        while !Task.isCancelled {
            try? await timekeeper.sleep(until: timekeeper.now + Self.pause)
            await sendWaiting()
        }
    }

    /// Sends all spans that wait; after the task is cancelled, only until a document is not taken.
    func sendWaiting() async {
        while case let spans = tracer.takeSpans(atMost: Self.batchSize), !spans.isEmpty {
            let document = OTLPDocument.bytes(spans, resource: resource, version: Program.version)
            if await isSent(document) {
                exported.increment(by: spans.count)
            } else {
                tracer.countDropped(spans.count)
                if Task.isCancelled { return }
            }
        }
    }

    private func isSent(_ document: [UInt8]) async -> Bool {
        for attempt in 1...Self.attempts {
            switch await send(document) {
            case .sent: return true
            case .refused: return false
            case .failed:
                guard attempt < Self.attempts, !Task.isCancelled else { return false }
                try? await timekeeper.sleep(until: timekeeper.now + Self.pause * (1 << attempt))
            }
        }
        return false
    }
}

extension TraceExporter {
    /// Posts documents to `url`, each on a thread of its own, because the collector may take its time.
    static func sender(to url: String, authorities: String?) -> Sender {
        { document in
            let fields: HTTPFields = [.contentType: "application/json", .userAgent: "Alula/" + Program.version]
            let request = HTTPRequest(method: .post, target: "", headerFields: fields, body: SharedBytes(document))
            return await withCheckedContinuation { continuation in
                let thread = try? WorkThread(named: "traces") {
                    continuation.resume(returning: blockingOutcome(of: request, at: url, authorities))
                }
                guard let thread else { return continuation.resume(returning: .failed) }
                thread.detach()
            }
        }
    }

    private static func blockingOutcome(of request: HTTPRequest, at url: String, _ authorities: String?) -> Delivery {
        do throws(HTTPClient.Failure) {
            let answer = try HTTPClient.blockingSend(
                request, to: url, timeLimit: .seconds(3), authorities: authorities)
            switch answer.status {
            case 200..<300: return .sent
            case 429, 502, 503, 504: return .failed
            default: return .refused
            }
        } catch {
            return .failed
        }
    }
}

extension Settings {
    /// The tracer; nil if spans are neither sent nor told to origins.
    func tracer(registry: MetricsRegistry, time: any Timekeeper) -> Tracer? {
        let isTold = downloads.origins.all.contains(where: \.tellsTraces)
        guard traces.endpoint != nil || isTold else { return nil }
        return Tracer(
            sampledShare: traces.endpoint == nil ? 0 : traces.sampledShare, identifiesAll: isTold, registry: registry,
            timekeeper: time)
    }
}
