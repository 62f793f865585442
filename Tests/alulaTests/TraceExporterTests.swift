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
        let tracer = Tracer(sampledShare: 1, identifiesAll: false, registry: registry, timekeeper: time)
        let trace = try #require(tracer.begin())
        for _ in 0..<spans { trace.record("decode", time: .zero ..< .zero) }
        return tracer
    }

    private func exporter(_ tracer: Tracer, send: @escaping TraceExporter.Sender) -> TraceExporter {
        TraceExporter(tracer, instance: "a", registry: registry, timekeeper: time, send: send)
    }

    @Test func `spans are sent many at a time, once a second`() async throws {
        let tracer = try tracer(spans: TraceExporter.batchSize + 1)
        let documents = Locked<[[UInt8]]>([])
        let exporter = exporter(tracer) { document in
            documents.withLock { $0.append(document) }
            return .sent
        }
        let task = Task { await exporter.run() }
        await time.sleepers(1)
        #expect(documents.withLock { $0.isEmpty })
        time.advance(by: .seconds(1))
        await time.nextWaking(at: .seconds(2))
        #expect(documents.withLock { $0.count } == 2)
        #expect(registry.prometheusText.contains("alula_trace_spans_exported_total \(TraceExporter.batchSize + 1)\n"))
        task.cancel()
        await task.value
    }

    @Test func `what a collector cannot take is sent again, and given up in the end`() async throws {
        let tracer = try tracer(spans: 2)
        let attempts = EventCounter()
        let exporter = exporter(tracer) { _ in
            attempts.increment()
            return .failed
        }
        let task = Task { await exporter.sendWaiting() }
        await time.nextWaking(at: .seconds(2))
        time.advance(by: .seconds(2))
        await time.nextWaking(at: .seconds(6))
        time.advance(by: .seconds(4))
        await task.value
        #expect(attempts.count == TraceExporter.attempts)
        #expect(registry.prometheusText.contains("alula_trace_spans_dropped_total 2\n"))
        #expect(registry.prometheusText.contains("alula_trace_spans_exported_total 0\n"))
    }

    @Test func `what a collector refuses is not sent again`() async throws {
        let tracer = try tracer(spans: 1)
        let attempts = EventCounter()
        let exporter = exporter(tracer) { _ in
            attempts.increment()
            return .refused
        }
        await exporter.sendWaiting()
        #expect(attempts.count == 1)
        #expect(registry.prometheusText.contains("alula_trace_spans_dropped_total 1\n"))
    }
}
