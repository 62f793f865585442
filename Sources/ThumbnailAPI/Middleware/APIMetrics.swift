import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

package struct APIMetrics: PendingRequestCounter, ResponseCompletion {
    package let requests: CounterFamily
    /// Has a series for every code from the start: `increase()` misses the first failure of a new series.
    private let errors: CounterFamily
    /// Counts only requests whose response is not ready immediately.
    private let active = UpDownCounterFamily()
    private let seconds: HistogramFamily

    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Responses of the public listener.", labels: "route", "status",
            counting: "request")
        errors = registry.counters(
            "alula_errors_total", help: "Failed requests of the public listener by error code.", labels: "code",
            counting: "request")
        for code in ErrorCode.counted { _ = errors.counter(code.rawValue) }
        seconds = registry.histograms(
            "alula_request_seconds",
            help: "Time from the request header to the end of the response, without health checks.",
            labels: "route", "cache",
            otlp: OTLPMetric(
                "http.server.request.duration", unit: "s",
                attributes: [
                    "http.route", "alula.cache", "http.request.method", "url.scheme", "http.response.status_code",
                    "error.type",
                ]))
        registry.gauge(
            "alula_requests_active", help: "Requests in progress.",
            otlp: OTLPMetric(
                "http.server.active_requests", unit: "{request}", attributes: ["http.request.method", "url.scheme"],
                isUpDownCounter: true)
        ) { [active] in active.snapshot.map { ($0.attributes, Double($0.value)) } }
    }

    func begin(_ context: RequestContext) -> (@Sendable () -> Void)? {
        let active = active.upDownCounter(context.method.conventionalName, "http")
        active.add(1)
        return { active.add(-1) }
    }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        let status = outcome.response.status.code
        let duration = (now - context.startedAt).seconds
        if status == 200, context.method == .get, outcome.cache == .hit, let route = context.route.images {
            route.recordHit(seconds: duration, traceID: context.trace?.recordedID)
        } else {
            requests.counter(context.route.label, String(status)).increment()
            if !context.route.isProbe {
                times(of: context.route.attribute, cache: outcome.cache, method: context.method, status: status)
                    .observe(duration, traceID: context.trace?.recordedID)
            }
        }
        if let error = outcome.error { errors.counter(error.code).increment() }
    }

    func times(of route: String, cache: CacheUse?, method: HTTPRequest.Method?, status: Int) -> Histogram {
        seconds.histogram(
            route, cache?.rawValue ?? "", method.conventionalName, "http", String(status),
            status >= 500 ? String(status) : "")
    }
}

extension HTTPRequest.Method? {
    /// The name for traces and metrics, from a fixed set.
    var conventionalName: String {
        guard let method = self, [.get, .head, .post, .options].contains(method) else { return "_OTHER" }
        return method.rawValue
    }
}
