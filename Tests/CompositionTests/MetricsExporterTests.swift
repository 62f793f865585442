import Coordination
import TestSupport
import Testing

@testable import Composition
@testable import Settings
@testable import Telemetry

@Suite(.timeLimit(.minutes(1)))
struct MetricsExporterTests {
    private let registry = MetricsRegistry()
    private let time = ManualTimekeeper(secondsSince1970: 1_800_000_000)
    private let documents = Locked<[String]>([])

    private func exporter(
        _ temporality: MetricTemporality = .cumulative, replies: [OTLPSender.Reply] = [.status(200)]
    ) -> MetricsExporter {
        var settings = Settings()
        settings.exports.temporality = temporality
        let left = Locked(replies)
        return MetricsExporter(
            of: registry, since: time.nanosecondsSince1970, settings: settings,
            sender: OTLPSender(timekeeper: time, jitter: { 1 }) { [documents] document, _ in
                documents.withLock { $0.append(String(decoding: document, as: UTF8.self)) }
                return left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            }, timekeeper: time)
    }

    /// The value of `alula.decodes` in each document; nil if the document has none.
    private var told: [Int?] {
        documents.withLock { $0 }.map { document in
            guard let start = document.firstRange(of: #""name":"alula.decodes""#),
                let value = document[start.upperBound...].firstRange(of: #""asInt":""#)
            else { return nil }
            return Int(document[value.upperBound...].prefix { $0.isNumber })
        }
    }

    @Test func `metrics are sent in each interval, and once more at the end`() async throws {
        let decodes = registry.counter("alula_decodes_total", help: "D.")
        let task = exporter().start()
        for second in [60, 120] {
            await time.nextWaking(at: .seconds(second))
            decodes.increment()
            time.advance(by: .seconds(60))
        }
        await time.nextWaking(at: .seconds(180))
        decodes.increment()
        task.cancel()
        await task.value
        #expect(told == [1, 2, 3])
        #expect(documents.withLock { $0[1] }.contains(#""timeUnixNano":"1800000120000000000""#))
        #expect(documents.withLock { $0[1] }.contains(#""startTimeUnixNano":"1800000000000000000""#))
        #expect(registry.prometheusText.contains("alula_metric_documents_total{result=\"taken\"} 3\n"))
    }

    @Test func `deltas of a rejected document are sent with the next one`() async throws {
        let decodes = registry.counter("alula_decodes_total", help: "D.")
        let task = exporter(.delta, replies: [.status(200), .status(400), .status(200)]).start()
        for second in [60, 120, 180] {
            await time.nextWaking(at: .seconds(second))
            decodes.increment()
            time.advance(by: .seconds(60))
        }
        await time.nextWaking(at: .seconds(240))
        task.cancel()
        await task.value
        #expect(told == [1, 1, 2, nil])
        #expect(documents.withLock { $0[2] }.contains(#""startTimeUnixNano":"1800000060000000000""#))
        #expect(registry.prometheusText.contains("alula_metric_documents_total{result=\"lost\"} 1\n"))
    }

    @Test func `a hanging collector has one document, and gets the newest counts after it`() async throws {
        let decodes = registry.counter("alula_decodes_total", help: "D.")
        let gate = Gate()
        let task = MetricsExporter(
            of: registry, since: 0, settings: Settings(),
            sender: OTLPSender(timekeeper: time) { [documents] document, _ in
                let isFirst = documents.withLock { documents in
                    documents.append(String(decoding: document, as: UTF8.self))
                    return documents.count == 1
                }
                if isFirst { await gate.pass() }
                return .status(200)
            }, timekeeper: time
        ).start()
        await time.nextWaking(at: .seconds(60))
        time.advance(by: .seconds(60))
        await gate.arrivals(1)
        decodes.increment(by: 9)
        time.advance(by: .seconds(600))
        #expect(documents.withLock { $0.count } == 1)
        gate.open()
        await time.nextWaking(at: .seconds(720))
        time.advance(by: .seconds(60))
        await time.nextWaking(at: .seconds(780))
        #expect(told == [0, 9])
        task.cancel()
        await task.value
    }

    @Test func `a shutdown during a collector's pause still sends the last counts`() async throws {
        let decodes = registry.counter("alula_decodes_total", help: "D.")
        let task = exporter(.delta, replies: [.status(503, retryAfter: .seconds(120)), .status(200)]).start()
        await time.nextWaking(at: .seconds(60))
        decodes.increment()
        time.advance(by: .seconds(60))
        await time.nextWaking(at: .seconds(180))
        task.cancel()
        await task.value
        #expect(told == [1, 1])
    }
}
