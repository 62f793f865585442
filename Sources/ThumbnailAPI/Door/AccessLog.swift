import Coordination
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

struct AccessLog: AnswerCompletion {
    let isLoggingAll: Bool
    private let logger: Logger

    init(isLoggingAll: Bool, logger: Logger) {
        self.isLoggingAll = isLoggingAll && logger.level <= .info
        self.logger = logger
    }

    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {
        guard isLoggingAll || answer.error?.needsExplanation == true else { return }
        let level: Logger.Level = answer.error?.category == .internal ? .error : .info
        guard level >= logger.level else { return }
        let response = answer.response
        let hasBody = exchange.method != .head && response.status != .notModified
        let microseconds = ((now - exchange.startedAt).milliseconds * 1_000).rounded()
        var line = logger.with([
            "requestId": .string(exchange.id), "method": .string(exchange.method?.rawValue ?? "-"),
            "route": .string(exchange.route.label), "status": .int(response.status.code),
            "bytes": .int(hasBody ? response.body.count : 0), "durationMs": .double(microseconds / 1_000),
        ])
        if let client = exchange.client { line = line.with(["client": .string(client.description)]) }
        if let trace = exchange.trace { line = line.with(["traceId": .string(trace.traceID)]) }
        if let source = answer.source { line = line.with(["source": .string(SourceLabel.text(source))]) }
        if let error = answer.error { line = line.with(["error": .string(error.code)]) }
        if let detail = answer.error?.logDetail { line = line.with(["detail": .string(detail)]) }
        line.log(level, "request")
    }
}

extension ServiceError {
    /// Even without an access log: not if the client disconnected.
    fileprivate var needsExplanation: Bool {
        category == .internal || (logDetail != nil && category != .cancelled)
    }
}
