import Telemetry
import TestSupport
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

    @Test func `a histogram with labels has a part for each, and adds up further attributes`() {
        let registry = MetricsRegistry()
        let times = registry.histograms(
            "seconds", help: "Time.", labels: "route", otlp: OTLPMetric("time", unit: "s", attributes: ["r", "s"]))
        times.histogram("a", "200").observe(0.003)
        times.histogram("a", "404").observe(3)
        times.histogram("", "404").observe(3)
        let text = registry.prometheusText
        for line in [
            #"seconds_bucket{route="a",le="0.005"} 1"#, #"seconds_bucket{route="a",le="+Inf"} 2"#,
            #"seconds_sum{route="a"} 3.003"#, #"seconds_count{route="a"} 2"#, #"seconds_count{route="none"} 1"#,
        ] { #expect(text.contains(line + "\n")) }
    }

    @Test func `OpenMetrics names families of counters without their suffix, has exemplars, and an end`() throws {
        let registry = MetricsRegistry()
        registry.counter("bytes_total", help: "Bytes.").increment(by: 10)
        let tracer = Tracer(
            TraceSampler(ratio: 1), propagatesAll: false, registry: MetricsRegistry(), timekeeper: ManualTimekeeper())
        let trace = try #require(tracer.beginIfSampled())
        let times = registry.histogram("seconds", help: "Time.")
        times.observe(0.003, traceID: trace.recordedID)
        times.observe(0.004)
        let text = registry.text(as: .openMetrics)
        #expect(text.hasPrefix("# HELP bytes Bytes.\n# TYPE bytes counter\nbytes_total 10\n"))
        #expect(text.contains(#"seconds_bucket{le="0.005"} 2 # {trace_id="\#(trace.traceID)"} 0.003"# + "\n"))
        #expect(text.hasSuffix("seconds_count 2\n# EOF\n"))
        #expect(!registry.prometheusText.contains(" # {"))
    }

    @Test func `the same labels give the same counter`() {
        let family = CounterFamily()
        family.counter("a", "b").increment()
        family.counter("a", "b").increment()
        #expect(family.counter("a", "b").value == 2)
        #expect(family.snapshot.count == 1)
    }
}
