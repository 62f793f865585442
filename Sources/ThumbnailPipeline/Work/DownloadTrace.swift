import Coordination
import Downloading
import Telemetry
import ThumbnailTypes

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
    func record(_ copy: SourceCopy, from host: String, until end: Duration) {
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
