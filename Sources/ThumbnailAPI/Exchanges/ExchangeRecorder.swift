import Coordination
import Downloading
import HTTPTypes
package import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// The facts of a public request for its log line and metrics.
struct Exchange: Sendable {
    /// The request's ID, sent as `X-Request-Id`; also the receipt of its wait.
    let requestID: String
    /// When the request's header was complete, by the monotonic clock.
    let startedAt: Duration
    /// The method; nil if the server rejected the request before it was read.
    let method: HTTPRequest.Method?
    let route: PublicRoute
    /// The client's address; nil if unknown.
    var client: IPAddress?
    var isProxied = false
    /// The request's trace; nil if it has none.
    var trace: RequestTrace?
}

/// Completes every public exchange with the last fields, the metrics and the log line.
struct ExchangeRecorder: Sendable {
    let isLoggingAll: Bool
    private let logger: Logger
    private let metrics: APIMetrics
    private let tracer: Tracer?
    private let timekeeper: any Timekeeper

    /// Logs to `logger`: all requests, or only failures that need an explanation.
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
    ///   - response: The response, without the last fields.
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

    /// Records a GET whose response is shared with other requests.
    func count(_ status: HTTPResponse.Status, _ route: PublicRoute, since start: Duration) {
        metrics.record(route, .get, status: status.code, seconds: (timekeeper.now - start).seconds)
    }

    /// Records a request that was answered like the one before it, without being parsed.
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
    /// Records the request's own span; names follow OpenTelemetry's HTTP server conventions.
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
    /// Whether this failure is logged even without an access log: not if the client disconnected.
    fileprivate var needsExplanation: Bool {
        category == .internal || (logDetail != nil && category != .cancelled)
    }
}

/// Writes `Server-Timing`: the steps, then the total time, in milliseconds.
enum ServerTimingText {
    /// The value in responses that are sent unchanged many times; each takes far less than a millisecond.
    static let ofHits = "total;dur=0"

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
    package let requests: CounterFamily
    /// `alula_errors_total{code}`, with every code from the start: a series that first appears with a failure hides it
    /// from `increase()`.
    let errors: CounterFamily
    /// Requests in progress; those answered at once are never included.
    let active = LevelFamily()
    private let seconds: HistogramFamily

    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Responses of the public listener.", labels: "route", "status",
            counting: "request")
        errors = registry.counters(
            "alula_errors_total", help: "Failed requests of the public listener by error code.",
            labels: "code", counting: "request")
        for code in ErrorCode.all { _ = errors.counter(code) }
        seconds = registry.histograms(
            "alula_request_seconds", help: "Time from the request header to the end of the response.",
            otlp: OTLPMetric(
                "http.server.request.duration", unit: "s",
                attributes: [
                    "http.request.method", "url.scheme", "http.route", "http.response.status_code", "error.type",
                ]))
        registry.gauge(
            "alula_requests_active", help: "Requests in progress.",
            otlp: OTLPMetric(
                "http.server.active_requests", unit: "{request}", attributes: ["http.request.method", "url.scheme"],
                isSum: true)
        ) { [active] in active.snapshot.map { ($0.attributes, Double($0.value)) } }
    }

    /// Counts and times a response.
    ///
    /// - Parameters:
    ///   - method: Nil for a request that was rejected before it was read.
    ///   - duration: Time from the request's header to the response.
    func record(_ route: PublicRoute, _ method: HTTPRequest.Method?, status: Int, seconds duration: Double) {
        if status == 200, method == .get, case .images(let route) = route {
            route.successes.increment()
            route.successTimes.observe(duration)
        } else {
            requests.counter(route.label, String(status)).increment()
            times(route.attribute, method, status: status).observe(duration)
        }
    }

    /// Returns the histogram of responses with these attributes.
    func times(_ route: String, _ method: HTTPRequest.Method?, status: Int) -> Histogram {
        seconds.histogram(
            method?.conventionalName ?? "_OTHER", "http", route, String(status), status >= 500 ? String(status) : "")
    }
}

extension HTTPRequest.Method {
    /// The name in traces and metrics, which must come from a fixed set.
    var conventionalName: String { [.get, .head, .post, .options].contains(self) ? rawValue : "_OTHER" }
}
