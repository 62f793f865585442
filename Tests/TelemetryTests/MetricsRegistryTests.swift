import Telemetry
import Testing

struct MetricsRegistryTests {
    @Test func `counters, gauges and histograms are written in Prometheus' format`() {
        let registry = MetricsRegistry()
        let requests = registry.counters("requests_total", help: "Requests.", labels: "route", "status")
        requests.counter("/b", "200").increment()
        requests.counter("/a", "404").increment(by: 2)
        registry.counter("bytes_total", help: "Bytes.").increment(by: 10)
        registry.gauge("depth", help: "Depth.", labels: "cache") { [(["x\"y"], 1.5)] }
        registry.histogram("seconds", help: "Time.").observe(0.003)
        let text = registry.prometheusText
        #expect(
            text.hasPrefix(
                """
                # HELP requests_total Requests.
                # TYPE requests_total counter
                requests_total{route="/a",status="404"} 2
                requests_total{route="/b",status="200"} 1
                # HELP bytes_total Bytes.
                # TYPE bytes_total counter
                bytes_total 10
                # HELP depth Depth.
                # TYPE depth gauge
                depth{cache="x\\"y"} 1.5
                # HELP seconds Time.
                # TYPE seconds histogram
                seconds_bucket{le="0.0005"} 0
                seconds_bucket{le="0.001"} 0
                seconds_bucket{le="0.0025"} 0
                seconds_bucket{le="0.005"} 1

                """))
        #expect(text.hasSuffix("seconds_bucket{le=\"+Inf\"} 1\nseconds_sum 0.003\nseconds_count 1\n"))
    }

    @Test func `the same labels give the same counter`() {
        let family = CounterFamily()
        family.counter("a", "b").increment()
        family.counter("a", "b").increment()
        #expect(family.counter("a", "b").value == 2)
        #expect(family.snapshot.count == 1)
    }
}
