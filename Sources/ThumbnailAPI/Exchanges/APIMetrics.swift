package import Telemetry

/// The public listener's metrics.
package struct APIMetrics: Sendable {
    /// `alula_requests_total{route,status}`; labels come from fixed sets.
    package let requests: CounterFamily
    /// `alula_request_seconds`: from the header's arrival to the finished answer.
    package let seconds: Histogram

    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Answers of the public listener.", labels: "route", "status")
        seconds = registry.histogram(
            "alula_request_seconds", help: "Time from a request's head to its finished answer.")
    }

    func record(route: PublicRoute, status: Int, seconds duration: Double) {
        if status == 200, case .images(let route) = route {
            route.successes.increment()
        } else {
            requests.counter(route.label, String(status)).increment()
        }
        seconds.observe(duration)
    }
}
