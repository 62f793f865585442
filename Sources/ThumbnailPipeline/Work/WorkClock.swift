import Coordination
import Downloading
import Memory
import Recipes
import Telemetry
import ThumbnailTypes

/// Measures queue wait, work and encoding of one piece of work on a worker thread.
final class WorkClock: Sendable {
    /// The current request's trace; nil if it is not sampled.
    private let trace: RequestTrace?
    private let start: Duration
    private let began = Locked<(time: Duration, token: WorkToken)?>(nil)
    private let processor = Locked((work: Duration.zero, encoding: Duration.zero))

    /// - Parameter start: The beginning of the wait for a thread.
    init(at start: Duration) {
        trace = RequestTrace.current.flatMap { $0.context.isSampled ? $0 : nil }
        self.start = start
    }

    /// Performs the work on the calling thread, and measures its CPU time including its worker processes.
    func perform<Value>(_ token: WorkToken, at time: Duration, _ work: () throws -> Value) rethrows -> Value {
        began.withLock { $0 = (time, token) }
        let start = SystemTimekeeper.threadProcessorTime
        defer {
            let end = SystemTimekeeper.threadProcessorTime
            let others = token.processorTimeOfProcesses
            let writing = token.processorTimeAtWriting.map { min(max($0, start), end) }
            processor.withLock {
                $0 = writing.map { ($0 - start, end - $0 + others) } ?? (end - start + others, .zero)
            }
        }
        return try work()
    }

    /// CPU time of the whole work, and of the encoding at its end; zero if it never started.
    var processorTime: (work: Duration, encoding: Duration) { processor.withLock { $0 } }

    var wholeProcessorTime: Duration {
        let time = processorTime
        return time.work + time.encoding
    }

    /// Durations of the queue wait, the work, and the encoding at its end.
    func steps(until end: Duration) -> (queue: Duration, work: Duration, encoding: Duration) {
        guard let began = began.withLock({ $0 }) else { return (end - start, .zero, .zero) }
        let writing = Self.writing(began, until: end) ?? end
        return (began.time - start, writing - began.time, end - writing)
    }

    /// The token always uses the system's clock, even in tests with another clock.
    private static func writing(_ began: (time: Duration, token: WorkToken), until end: Duration) -> Duration? {
        began.token.writingBegan.map { min(max($0, began.time), max(began.time, end)) }
    }

    /// Records the spans; only the wait if the work never started.
    ///
    /// - Parameter name: `decode` or `render`.
    func record(_ name: String, format: ImageFormat, until end: Duration) {
        guard let trace else { return }
        let began = began.withLock { $0 }
        trace.record("queue", time: start..<(began?.time ?? end), attributes: [("alula.step", .string(name))])
        guard let began else { return }
        let context = trace.newContext()
        trace.record(
            name, as: context, time: began.time..<max(began.time, end),
            attributes: [("alula.format", .string(format.rawValue))])
        guard let encoding = Self.writing(began, until: end) else { return }
        trace.record("encode", within: context, time: encoding..<max(encoding, end))
    }
}

struct DownloadTrace {
    private let trace: RequestTrace
    private let context: TraceContext
    private let start: Duration

    /// Creates a trace of a wait that begins at `start`; nil if the current request has no trace.
    init?(at start: Duration) {
        guard let trace = RequestTrace.current else { return nil }
        self.trace = trace
        context = trace.newContext()
        self.start = start
    }

    var traceparent: String { context.traceparent }

    /// Records the wait for a slot and the phases of the transfer, or the wait for another request's transfer.
    ///
    /// A phase is the sum over all redirects.
    func record(_ copy: FetchedSource, from host: String, until end: Duration) {
        guard let exchange = copy.exchange else { return }
        var attributes: Span.Attributes = [("server.address", .string(host))]
        if let status = exchange.status { attributes.append(("http.response.status_code", .int(status))) }
        guard copy.participation == .started else {
            let isJoined = copy.participation == .joined
            let link = isJoined ? exchange.traceparent.flatMap { TraceContext(traceparent: $0) } : nil
            trace.record(
                "download", as: context, time: start..<end,
                attributes: attributes + [("alula.joined", .bool(isJoined))], links: link.map { [$0] } ?? [])
            return
        }
        let timings = exchange.timings
        let began = max(start, end - timings.total)
        trace.record("queue", time: start..<began, attributes: [("alula.step", .string("download"))])
        if let count = copy.byteCount { attributes.append(("http.response.body.size", .int(count))) }
        trace.record("download", kind: .client, as: context, time: began..<end, attributes: attributes)
        var time = began
        for (name, duration) in [
            ("dns", timings.dns), ("connect", timings.connect), ("tls", timings.tls), ("first_byte", timings.firstByte),
        ] where duration > .zero {
            let next = min(end, time + duration)
            trace.record(name, within: context, time: time..<next)
            time = next
        }
    }

    func record(_ error: any Error, from host: String, until end: Duration) {
        let code = (error as? any ServiceError)?.code ?? (error is CancellationError ? "cancelled" : "internal")
        trace.record(
            "download", kind: .client, as: context, time: start..<end,
            attributes: [("server.address", .string(host)), ("error.type", .string(code))], failure: code)
    }
}
