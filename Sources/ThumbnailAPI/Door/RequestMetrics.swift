import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

package struct APIMetrics: WaitCount, AnswerCompletion {
    package let requests: CounterFamily
    /// Every code from the start: a series that first appears with a failure hides it from `increase()`.
    private let errors: CounterFamily
    /// Never includes requests answered at once.
    private let active = LevelFamily()
    private let seconds: HistogramFamily

    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Responses of the public listener.", labels: "route", "status",
            counting: "request")
        errors = registry.counters(
            "alula_errors_total", help: "Failed requests of the public listener by error code.", labels: "code",
            counting: "request")
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

    func begin(_ exchange: Exchange) -> (@Sendable () -> Void)? {
        let active = active.level(exchange.method.conventionalName, "http")
        active.change(by: 1)
        return { active.change(by: -1) }
    }

    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {
        let (status, duration) = (answer.response.status.code, (now - exchange.startedAt).seconds)
        if status == 200, exchange.method == .get, let route = exchange.route.images {
            route.recordSuccess(seconds: duration)
        } else {
            requests.counter(exchange.route.label, String(status)).increment()
            times(exchange.route.attribute, exchange.method, status: status).observe(duration)
        }
        if let error = answer.error { errors.counter(error.code).increment() }
    }

    func times(_ route: String, _ method: HTTPRequest.Method?, status: Int) -> Histogram {
        seconds.histogram(method.conventionalName, "http", route, String(status), status >= 500 ? String(status) : "")
    }
}

extension HTTPRequest.Method? {
    /// From a fixed set, for traces and metrics.
    var conventionalName: String {
        guard let method = self, [.get, .head, .post, .options].contains(method) else { return "_OTHER" }
        return method.rawValue
    }
}
