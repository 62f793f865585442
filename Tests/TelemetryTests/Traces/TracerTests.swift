import Coordination
import TestSupport
import Testing

@testable import Telemetry

struct TracerTests {
    private static let parent = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

    private let time = ManualTimekeeper(secondsSince1970: 1_800_000_000)

    private func tracer(
        sampling ratio: Double = 1, propagatesAll: Bool = false, registry: MetricsRegistry = MetricsRegistry()
    ) -> Tracer {
        Tracer(TraceSampler(ratio: ratio), propagatesAll: propagatesAll, registry: registry, timekeeper: time)
    }

    @Test func `a share of the requests is sampled`() {
        let tracer = tracer(sampling: 0.25)
        let count = (0..<4_000).count { _ in tracer.begin() != nil }
        #expect(800..<1_200 ~= count)
    }

    @Test func `with a ratio of zero no request is sampled`() {
        let tracer = tracer(sampling: 0)
        #expect((0..<100).allSatisfy { _ in tracer.begin() == nil })
    }

    @Test func `a caller's decision overrides ours`() throws {
        let parent = try #require(Self.parent)
        let sampled = try #require(tracer(sampling: 0).begin(continuing: parent))
        #expect(sampled.context.isSampled)
        #expect(sampled.context.traceID == parent.traceID && sampled.context.spanID != parent.spanID)
        let unsampled = TraceContext(traceID: parent.traceID, spanID: parent.spanID, isSampled: false)
        let followed = try #require(tracer(sampling: 1).begin(continuing: unsampled))
        #expect(!followed.context.isSampled)
    }

    @Test(arguments: [(0.0, false), (1, true)])
    func `a sampler that does not follow callers decides itself`(ratio: Double, isSampled: Bool) throws {
        let parent = try #require(Self.parent)
        let tracer = Tracer(
            TraceSampler(ratio: ratio, isParentBased: false), propagatesAll: false, registry: MetricsRegistry(),
            timekeeper: time)
        for flag in [true, false] {
            let caller = TraceContext(traceID: parent.traceID, spanID: parent.spanID, isSampled: flag)
            #expect(try #require(tracer.begin(continuing: caller)).context.isSampled == isSampled)
        }
    }

    @Test func `services with the same ratio decide alike on a trace`() throws {
        let sampler = TraceSampler(ratio: 0.25, isParentBased: false)
        // Only the 63 lowest bits count; in the first ID they are just below a quarter.
        #expect(sampler.samples(0x3fff_ffff_ffff_ffff) && !sampler.samples(0x4000_0000_0000_0000))
        let tracer = Tracer(sampler, propagatesAll: true, registry: MetricsRegistry(), timekeeper: time)
        for _ in 0..<200 {
            let context = try #require(tracer.begin()).context
            #expect(context.isSampled == sampler.samples(context.traceID.low))
            #expect(try #require(tracer.begin(continuing: context)).context.isSampled == context.isSampled)
        }
    }

    @Test func `unsampled requests have a place in a trace if an origin receives it`() throws {
        let tracer = tracer(sampling: 0, propagatesAll: true)
        let trace = try #require(tracer.begin())
        #expect(trace.context.traceparent.hasSuffix("-00"))
        trace.record("decode", time: .zero ..< .seconds(1))
        trace.finish("GET thumbnail", time: .zero ..< .seconds(1), attributes: [])
        #expect(tracer.dequeueSpans(atMost: 10).isEmpty)
        #expect(tracer.beginIfSampled() == nil)
    }

    @Test func `spans have their parent, and their wall-clock times`() throws {
        let tracer = tracer()
        time.advance(by: .seconds(5))
        let trace = try #require(tracer.begin(continuing: Self.parent))
        let place = trace.newContext()
        trace.record(
            "download", kind: .client, as: place, time: .seconds(5) ..< .milliseconds(5_250),
            attributes: [("server.address", "example.com")], failure: "origin_timeout")
        trace.record("dns", within: place, time: .seconds(5) ..< .seconds(5))
        trace.finish("GET thumbnail", time: .seconds(5) ..< .seconds(6), attributes: [])
        let spans = tracer.dequeueSpans(atMost: 10)
        #expect(spans.map(\.name) == ["download", "dns", "GET thumbnail"])
        #expect(spans.allSatisfy { $0.context.traceID == Self.parent?.traceID })
        #expect(spans[0].parentID == trace.context.spanID && spans[0].context == place)
        #expect(spans[0].failure == "origin_timeout" && spans[0].kind == .client)
        #expect(spans[1].parentID == place.spanID)
        #expect(spans[2].parentID == Self.parent?.spanID && spans[2].context == trace.context)
        #expect(spans[2].time == 1_800_000_005_000_000_000..<1_800_000_006_000_000_000)
        #expect(Set(spans.map(\.context.spanID)).count == 3)
    }

    @Test func `unsent spans are dropped above a limit, and counted`() throws {
        let registry = MetricsRegistry()
        let tracer = tracer(registry: registry)
        let trace = try #require(tracer.begin())
        for _ in 0..<(Tracer.maximumSpans + 3) { trace.record("decode", time: .zero ..< .zero) }
        #expect(registry.prometheusText.contains("alula_trace_spans_dropped_total 3\n"))
        #expect(tracer.dequeueSpans(atMost: 100).count == 100)
        #expect(tracer.dequeueSpans(atMost: .max).count == Tracer.maximumSpans - 100)
    }
}
