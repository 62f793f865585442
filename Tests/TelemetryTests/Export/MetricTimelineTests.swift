import Coordination
import Testing

@testable import Telemetry

struct MetricTimelineTests {
    private let registry = MetricsRegistry()

    /// Points as texts: name, attributes, start, value.
    private func points(_ timeline: MetricTimeline) -> [String] {
        timeline.metrics(registry.readings).flatMap { metric in
            metric.points.map { point in
                let value =
                    switch point.value {
                    case .number(let number): "\(Int(number))"
                    case .histogram(let reading): "\(reading.count) in \(Int(reading.sum)) s"
                    }
                return ([metric.otlp.name] + point.attributes + ["from \(point.start):", value])
                    .joined(separator: " ")
            }
        }
    }

    @Test func `totals begin with the service, and all are sent again`() {
        let counts = registry.counters("alula_decodes_total", help: "", labels: "format")
        let times = registry.histogram("alula_decode_seconds", help: "")
        registry.gauge("alula_queue", help: "") { [([], 4)] }
        counts.counter("png").increment(by: 2)
        var timeline = MetricTimeline(.cumulative, since: 100)
        let first = [
            "alula.decodes png from 100: 2", "alula.decode.duration from 100: 0 in 0 s", "alula.queue from 100: 4",
        ]
        #expect(points(timeline) == first)
        timeline.accept(registry.readings, at: 160)
        #expect(points(timeline) == first)
        counts.counter("jpeg").increment()
        times.observe(3)
        #expect(
            points(timeline) == [
                "alula.decodes jpeg from 100: 1", "alula.decodes png from 100: 2",
                "alula.decode.duration from 100: 1 in 3 s",
                "alula.queue from 100: 4",
            ])
    }

    @Test func `deltas have only the changes since the last document`() {
        let counts = registry.counters("alula_decodes_total", help: "", labels: "format")
        let times = registry.histogram("alula_decode_seconds", help: "")
        registry.gauge("alula_queue", help: "") { [([], 4)] }
        counts.counter("png").increment(by: 2)
        times.observe(1)
        var timeline = MetricTimeline(.delta, since: 100)
        #expect(
            points(timeline) == [
                "alula.decodes png from 100: 2", "alula.decode.duration from 100: 1 in 1 s", "alula.queue from 100: 4",
            ])
        timeline.accept(registry.readings, at: 160)
        #expect(points(timeline) == ["alula.queue from 100: 4"])
        counts.counter("png").increment()
        counts.counter("jpeg").increment(by: 5)
        times.observe(2)
        #expect(
            points(timeline) == [
                "alula.decodes jpeg from 160: 5", "alula.decodes png from 160: 1",
                "alula.decode.duration from 160: 1 in 2 s",
                "alula.queue from 100: 4",
            ])
    }

    @Test func `a lost delta is in the next document`() {
        let counter = registry.counter("alula_decodes_total", help: "")
        counter.increment()
        var timeline = MetricTimeline(.delta, since: 100)
        timeline.accept(registry.readings, at: 160)
        counter.increment()
        #expect(points(timeline) == ["alula.decodes from 160: 1"])
        counter.increment()
        #expect(points(timeline) == ["alula.decodes from 160: 2"])
    }

    @Test func `with low memory, external counters are sent as totals`() {
        let total = UpDownCounter()
        total.add(7)
        let counter = registry.counter("alula_decodes_total", help: "")
        registry.observableCounter("alula_purges_total", help: "") { [([], Double(total.value))] }
        counter.increment()
        var timeline = MetricTimeline(.lowmemory, since: 100)
        timeline.accept(registry.readings, at: 160)
        counter.increment()
        total.add(1)
        #expect(points(timeline) == ["alula.decodes from 160: 1", "alula.purges from 100: 8"])
    }

    @Test func `a restarted counter is sent with its full value`() {
        let total = UpDownCounter()
        total.add(7)
        registry.observableCounter("alula_purges_total", help: "") { [([], Double(total.value))] }
        var timeline = MetricTimeline(.delta, since: 100)
        timeline.accept(registry.readings, at: 160)
        total.add(-4)
        #expect(points(timeline) == ["alula.purges from 160: 3"])
    }

    @Test func `times never decrease, although the clock may`() {
        var timeline = MetricTimeline(.delta, since: 100)
        #expect(timeline.time(at: 90) == 100)
        timeline.accept([], at: 160)
        #expect(timeline.time(at: 150) == 160 && timeline.time(at: 170) == 170)
    }

    @Test func `a metric without a name for collectors is not sent`() {
        registry.prometheusGauge("process_start_time_seconds", help: "") { [([], 5)] }
        #expect(points(MetricTimeline(.cumulative, since: 0)).isEmpty)
        #expect(registry.prometheusText.contains("process_start_time_seconds 5\n"))
    }
}
