import Coordination
import Downloading
import HTTPTypes
package import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// The facts of one request on the public listener that its log line and metrics tell.
struct Exchange: Sendable {
    /// The request's ID, sent as `X-Request-Id`; it is also the receipt of the request's wait.
    let requestID: String
    /// When the request's header was complete, by the monotonic clock.
    let startedAt: Duration
    /// The method; nil if the server refused the request before it was read.
    let method: HTTPRequest.Method?
    /// The route of the request's target.
    let route: PublicRoute
    /// The address of the client; nil if it is not known.
    var client: IPAddress?
    /// Whether a trusted proxy has passed the request on.
    var isProxied = false
    /// The request's trace; nil if it has none.
    var trace: RequestTrace?
}

/// Ends every exchange of the public listener: the last fields, the metrics and the log line.
struct ExchangeRecorder: Sendable {
    /// Whether each exchange has a log line.
    let isLoggingAll: Bool
    private let logger: Logger
    private let metrics: APIMetrics
    private let tracer: Tracer?
    private let timekeeper: any Timekeeper

    /// Logs to `logger`: all requests, or only the failures that need an explanation.
    init(
        isLoggingAll: Bool, logger: Logger, metrics: APIMetrics, tracer: Tracer?, timekeeper: any Timekeeper
    ) {
        self.tracer = tracer
        self.isLoggingAll = isLoggingAll && logger.level <= .info
        self.logger = logger
        self.metrics = metrics
        self.timekeeper = timekeeper
    }

    /// Completes `response` and records it.
    ///
    /// - Parameters:
    ///   - response: The answer, without the last fields.
    ///   - exchange: The request.
    ///   - timings: The steps for `Server-Timing`.
    ///   - source: The thumbnail's source as the client named it.
    ///   - error: The error; nil if there was none.
    func finish(
        _ response: HTTPResponse, _ exchange: Exchange, timings: [StepTiming] = [], source: String? = nil,
        error: (any ServiceError)? = nil
    ) -> HTTPResponse {
        var response = response
        let now = timekeeper.now
        let elapsed = now - exchange.startedAt
        if exchange.route.servesImages {
            response.headerFields.append(.serverTiming, ServerTimingText.text(timings, total: elapsed))
        }
        response.headerFields.append(.xRequestID, exchange.requestID)
        metrics.record(exchange.route, exchange.method, status: response.status.code, seconds: elapsed.seconds)
        if let error { metrics.errors.counter(error.code).increment() }
        exchange.trace?.finish(exchange, status: response.status.code, until: now, error: error)
        let needsExplanation = error.map { $0.needsExplanation } ?? false
        if isLoggingAll || needsExplanation {
            log(response, exchange, elapsed: elapsed, source: source, error: error)
        }
        return response
    }

    /// Records a GET whose answer is the same for other requests.
    func count(_ status: HTTPResponse.Status, _ route: PublicRoute, since start: Duration) {
        metrics.record(route, .get, status: status.code, seconds: (timekeeper.now - start).seconds)
    }

    /// Records a request that was answered like the one before it, without being read.
    func countRepeated(_ status: HTTPResponse.Status, _ route: PublicRoute, since start: Duration) {
        count(status, route, since: start)
        guard let trace = tracer?.beginSampled() else { return }
        let exchange = Exchange(requestID: "", startedAt: start, method: .get, route: route)
        trace.finish(exchange, status: status.code, until: timekeeper.now, error: nil)
    }

    private func log(
        _ response: HTTPResponse, _ exchange: Exchange, elapsed: Duration, source: String?,
        error: (any ServiceError)?
    ) {
        let level: Logger.Level = error?.category == .internal ? .error : .info
        guard level >= logger.level else { return }
        let hasBody = exchange.method != .head && response.status != .notModified
        let microseconds = (elapsed.milliseconds * 1_000).rounded()
        var line = logger.with([
            "requestId": .string(exchange.requestID), "method": .string(exchange.method?.rawValue ?? "-"),
            "route": .string(exchange.route.label), "status": .int(response.status.code),
            "bytes": .int(hasBody ? response.body.count : 0), "durationMs": .double(microseconds / 1_000),
        ])
        if let client = exchange.client { line = line.with(["client": .string(client.description)]) }
        if let trace = exchange.trace { line = line.with(["traceId": .string(trace.traceID)]) }
        if let source { line = line.with(["source": .string(SourceLabel.text(source))]) }
        if let error { line = line.with(["error": .string(error.code)]) }
        if let detail = error?.logDetail { line = line.with(["detail": .string(detail)]) }
        line.log(level, "request")
    }
}

extension RequestTrace {
    /// Records the request's own span; the names follow OpenTelemetry's conventions for HTTP servers.
    fileprivate func finish(_ exchange: Exchange, status: Int, until end: Duration, error: (any ServiceError)?) {
        let method = exchange.method?.conventionalName ?? "_OTHER"
        var attributes: [(String, Logger.MetadataValue)] = [
            ("http.request.method", .string(method)),
            ("url.scheme", "http"),
            ("http.response.status_code", .int(status)),
        ]
        let route = exchange.route.attribute
        if !route.isEmpty { attributes.append(("http.route", .string(route))) }
        if !exchange.requestID.isEmpty { attributes.append(("alula.request_id", .string(exchange.requestID))) }
        if let error { attributes.append(("error.type", .string(error.code))) }
        finish(
            "\(method == "_OTHER" ? "HTTP" : method)\(route.isEmpty ? "" : " ")\(route)",
            time: exchange.startedAt..<max(exchange.startedAt, end),
            attributes: attributes, failure: status >= 500 ? error?.code ?? "internal" : nil)
    }
}

extension ServiceError {
    /// Whether a request that fails so is logged without an access log: not if its client has given it up.
    fileprivate var needsExplanation: Bool {
        category == .internal || (logDetail != nil && category != .cancelled)
    }
}

/// Writes `Server-Timing`: the steps, then all of the time as `total`, in milliseconds.
enum ServerTimingText {
    /// The field's value in answers that are sent many times unchanged; each takes far less than a millisecond.
    static let ofHits = "total;dur=0"

    /// The field's value, from measured steps and the time since the request arrived.
    static func text(_ steps: [StepTiming], total: Duration) -> String {
        var text = ""
        for step in steps { append(step.name, step.duration, to: &text) }
        append("total", total, to: &text)
        return text
    }

    private static func append(_ name: String, _ duration: Duration, to text: inout String) {
        let parts = duration.components
        let microseconds = max(0, parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000)
        if !text.isEmpty { text += ", " }
        text += name
        text += ";dur="
        text += String(microseconds / 1_000)
        text += "."
        // Three decimals: the digits after a leading 1.
        text += String(microseconds % 1_000 + 1_000).dropFirst()
    }
}

/// The public listener's metrics; labels come from fixed sets.
package struct APIMetrics: Sendable {
    /// `alula_requests_total{route,status}`.
    package let requests: CounterFamily
    /// `alula_errors_total{code}`, which has every code from the start: a series that is born with a failure hides it
    /// from `increase()`.
    let errors: CounterFamily
    /// Requests whose answers are being made; those that are answered at once are never among them.
    let active = LevelFamily()
    private let seconds: HistogramFamily

    /// Registers the metrics in `registry`.
    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Answers of the public listener.", labels: "route", "status",
            counting: "request")
        errors = registry.counters(
            "alula_errors_total", help: "Requests of the public listener that failed, by the code of the problem.",
            labels: "code", counting: "request")
        for code in ErrorCode.all { _ = errors.counter(code) }
        seconds = registry.histograms(
            "alula_request_seconds", help: "Time from a request's head to its finished answer.",
            otlp: OTLPMetric(
                "http.server.request.duration", unit: "s",
                attributes: [
                    "http.request.method", "url.scheme", "http.route", "http.response.status_code", "error.type",
                ]))
        registry.gauge(
            "alula_requests_active", help: "Requests whose answers are being made.",
            otlp: OTLPMetric(
                "http.server.active_requests", unit: "{request}", attributes: ["http.request.method", "url.scheme"],
                isSum: true)
        ) { [active] in active.snapshot.map { ($0.attributes, Double($0.value)) } }
    }

    /// Counts and times an answer.
    ///
    /// - Parameters:
    ///   - method: Nil for a request that was refused before it was read.
    ///   - duration: Time from the request's header to the answer.
    func record(_ route: PublicRoute, _ method: HTTPRequest.Method?, status: Int, seconds duration: Double) {
        if status == 200, method == .get, case .images(let route) = route {
            route.successes.increment()
            route.successTimes.observe(duration)
        } else {
            requests.counter(route.label, String(status)).increment()
            times(route.attribute, method, status: status).observe(duration)
        }
    }

    /// The times of the answers that these attributes have in common.
    func times(_ route: String, _ method: HTTPRequest.Method?, status: Int) -> Histogram {
        seconds.histogram(
            method?.conventionalName ?? "_OTHER", "http", route, String(status), status >= 500 ? String(status) : "")
    }
}

extension HTTPRequest.Method {
    /// The name in traces and metrics, where it comes from a fixed set.
    var conventionalName: String { [.get, .head, .post, .options].contains(self) ? rawValue : "_OTHER" }
}
