import Coordination
import Telemetry
import TestSupport
import Testing

@testable import Composition

@Suite(.timeLimit(.minutes(1)))
struct TraceExporterTests {
    private let registry = MetricsRegistry()
    private let time = ManualTimekeeper()

    private func tracer(spans: Int) throws -> Tracer {
        let tracer = Tracer(TraceSampler(ratio: 1), propagatesAll: false, registry: registry, timekeeper: time)
        let trace = try #require(tracer.begin())
        for _ in 0..<spans { trace.record("decode", time: .zero ..< .zero) }
        return tracer
    }

    private func exporter(
        _ tracer: Tracer, reply: @escaping @Sendable ([UInt8]) -> OTLPSender.Reply
    ) -> TraceExporter {
        TraceExporter(
            tracer, of: OTLPResource([], version: "1"), registry: registry,
            sender: OTLPSender(timekeeper: time) { document, _ in reply(document) })
    }

    @Test func `spans are sent many at a time, once a second`() async throws {
        let tracer = try tracer(spans: TraceExporter.batchSize + 1)
        let documents = Locked<[[UInt8]]>([])
        let exporter = exporter(tracer) { document in
            documents.withLock { $0.append(document) }
            return .status(200)
        }
        let task = exporter.start()
        await time.sleepers(1)
        #expect(documents.withLock { $0.isEmpty })
        time.advance(by: .seconds(1))
        await time.nextWaking(at: .seconds(2))
        #expect(documents.withLock { $0.count } == 2)
        #expect(registry.prometheusText.contains("alula_trace_spans_exported_total \(TraceExporter.batchSize + 1)\n"))
        task.cancel()
        await task.value
    }

    @Test func `spans rejected by a collector are dropped`() async throws {
        let exporter = exporter(try tracer(spans: 2)) { _ in .status(400) }
        await exporter.sendWaiting()
        #expect(registry.prometheusText.contains("alula_trace_spans_dropped_total 2\n"))
        #expect(registry.prometheusText.contains("alula_trace_spans_exported_total 0\n"))
    }

    @Test func `at the end, the first rejected document is the last`() async throws {
        let attempts = EventCounter()
        let exporter = exporter(try tracer(spans: 2 * TraceExporter.batchSize)) { _ in
            attempts.increment()
            return .status(400)
        }
        await exporter.sendWaiting(until: .seconds(2))
        #expect(attempts.count == 1)
    }

    @Test func `a shutdown with a hanging collector waits two seconds at most for one more document`() async throws {
        let gate = Gate()
        let limits = Locked<[Duration]>([])
        let task = TraceExporter(
            try tracer(spans: 4 * TraceExporter.batchSize), of: OTLPResource([], version: "1"), registry: registry,
            sender: OTLPSender(timekeeper: time) { _, limit in
                limits.withLock { $0.append(limit) }
                await gate.pass()
                return .none
            }
        ).start()
        await time.nextWaking(at: .seconds(1))
        time.advance(by: .seconds(1))
        await gate.arrivals(1)
        task.cancel()
        gate.open()
        await task.value
        #expect(limits.withLock { $0 } == [.seconds(3), .seconds(2)])
    }
}
