import Testing

@testable import Telemetry

struct MetricDocumentTests {
    private let registry = MetricsRegistry()

    private func document(_ temporality: MetricTemporality = .cumulative) -> String {
        String(
            decoding: MetricDocument.bytes(
                registry.readings, at: 1_800_000_060_000_000_000,
                in: MetricTimeline(temporality, since: 1_800_000_000_000_000_000),
                of: OTLPResource([("service.name", "alula")], version: "2")), as: UTF8.self)
    }

    /// The document around these metrics.
    private func document(_ metrics: String) -> String {
        #"{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"alula"}}]},"#
            + #""scopeMetrics":[{"scope":{"name":"alula","version":"2"},"metrics":[\#(metrics)]}]}]}"#
    }

    private static let times =
        #""startTimeUnixNano":"1800000000000000000","timeUnixNano":"1800000060000000000""#

    @Test func `without metrics it is empty`() {
        #expect(document() == document(""))
    }

    @Test(arguments: [(MetricTemporality.cumulative, 2), (.delta, 1)])
    func `a counter is a sum that only grows`(temporality: MetricTemporality, number: Int) {
        registry.counters("alula_decodes_total", help: "Decoded \"images\".", labels: "format", counting: "image")
            .counter("png").increment(by: 3)
        #expect(
            document(temporality)
                == document(
                    #"{"name":"alula.decodes","description":"Decoded \"images\".","unit":"{image}","#
                        + #""sum":{"aggregationTemporality":\#(number),"isMonotonic":true,"dataPoints":[{"attributes":"#
                        + #"[{"key":"format","value":{"stringValue":"png"}}],\#(Self.times),"asInt":"3"}]}}"#))
    }

    @Test func `a value that rises and falls is a gauge, or a sum if instances add up`() {
        registry.gauge("alula_queue_seconds", help: "Q.") { [([], 0.5)] }
        registry.gauge(
            "process_threads", help: "T.",
            otlp: OTLPMetric("process.thread.count", unit: "{thread}", isUpDownCounter: true)
        ) {
            [([], 7)]
        }
        #expect(
            document(.delta)
                == document(
                    #"{"name":"alula.queue.duration","description":"Q.","unit":"s","gauge":{"dataPoints":[{"#
                        + #""attributes":[],\#(Self.times),"asDouble":0.5}]}},"#
                        + #"{"name":"process.thread.count","description":"T.","unit":"{thread}","#
                        + #""sum":{"aggregationTemporality":2,"dataPoints":[{"attributes":[],\#(Self.times),"asInt":"7"}]}}"#
                ))
    }

    @Test func `a histogram has its bounds, one bucket more, and attributes that Prometheus does not see`() {
        let family = registry.histograms(
            "alula_request_seconds", help: "R.",
            otlp: OTLPMetric(
                "http.server.request.duration", unit: "s",
                attributes: ["http.request.method", "http.response.status_code", "error.type"]))
        family.histogram("GET", "200", "").observe(0.25)
        family.histogram("GET", "200", "").observe(0.0005)
        family.histogram("GET", "503", "503").observe(100)
        func point(_ status: String, _ count: Int, _ sum: String, _ buckets: String) -> String {
            #"{"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},"#
                + #"{"key":"http.response.status_code","value":{"intValue":"\#(status.prefix(3))"}}\#(status.dropFirst(3))],"#
                + #"\#(Self.times),"count":"\#(count)","sum":\#(sum),"bucketCounts":[\#(buckets)],"#
                + #""explicitBounds":[0.0005,0.001,0.0025,0.005,0.01,0.025,0.05,0.1,0.25,0.5,1.0,2.5,5.0,10.0]}"#
        }
        func buckets(_ counts: [Int]) -> String { counts.map { "\"\($0)\"" }.joined(separator: ",") }
        #expect(
            document()
                == document(
                    #"{"name":"http.server.request.duration","description":"R.","unit":"s","#
                        + #""histogram":{"aggregationTemporality":2,"dataPoints":["#
                        + point("200", 2, "0.2505", buckets([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])) + ","
                        + point(
                            #"503,{"key":"error.type","value":{"stringValue":"503"}}"#, 1, "100.0",
                            buckets([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])) + "]}}"))
        #expect(registry.prometheusText.contains("alula_request_seconds_count 3\n"))
        #expect(registry.prometheusText.contains("alula_request_seconds_bucket{le=\"0.25\"} 2\n"))
    }

    @Test(
        arguments: [
            ("alula_decode_seconds", nil, "alula.decode.duration", "s"),
            ("alula_download_bytes_total", nil, "alula.download.size", "By"),
            ("alula_downloads_collapsed_total", "request", "alula.downloads_collapsed", "{request}"),
            ("alula_shared_cache_up", nil, "alula.shared_cache_up", "1"),
        ] as [(String, String?, String, String)])
    func `names contain neither unit nor kind`(name: String, counted: String?, otlp: String, unit: String) {
        let metric = OTLPMetric(of: name, counting: counted)
        #expect(metric.name == otlp && metric.unit == unit)
    }
}
