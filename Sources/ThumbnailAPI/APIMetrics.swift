package import Telemetry

/// The public listener's metrics.
package struct APIMetrics: Sendable {
    /// `alula_requests_total{route,status}`; labels come from fixed sets.
    package let requests: CounterFamily
    /// `alula_request_seconds`: from the head's arrival to the finished answer.
    package let seconds: Histogram
    /// Thumbnails answered with 200, looked up once because that happens most.
    let thumbnails: Counter

    /// Registers both metrics.
    package init(registry: MetricsRegistry) {
        requests = registry.counters(
            "alula_requests_total", help: "Answers of the public listener.", labels: "route", "status")
        seconds = registry.histogram(
            "alula_request_seconds", help: "Time from a request's head to its finished answer.")
        thumbnails = requests.counter(PublicRoute.thumbnail.rawValue, "200")
    }

    /// Counts one answer.
    func record(route: PublicRoute, status: Int, seconds duration: Double) {
        if route == .thumbnail, status == 200 {
            thumbnails.increment()
        } else {
            requests.counter(route.rawValue, String(status)).increment()
        }
        seconds.observe(duration)
    }
}
