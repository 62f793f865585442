import Coordination
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

struct AccessLog: ResponseCompletion {
    let isLoggingAll: Bool
    private let logger: Logger

    init(isLoggingAll: Bool, logger: Logger) {
        self.isLoggingAll = isLoggingAll && logger.level <= .info
        self.logger = logger
    }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard isLoggingAll || outcome.error?.needsExplanation == true else { return }
        let level: Logger.Level = outcome.error?.category == .internal ? .error : .info
        guard level >= logger.level else { return }
        let response = outcome.response
        let hasBody = context.method != .head && response.status != .notModified
        let microseconds = ((now - context.startedAt).milliseconds * 1_000).rounded()
        var line = logger.with([
            "requestId": .string(context.id), "method": .string(context.method?.rawValue ?? "-"),
            "route": .string(context.route.label), "status": .int(response.status.code),
            "bytes": .int(hasBody ? response.body.count : 0), "durationMs": .double(microseconds / 1_000),
        ])
        if let client = context.client { line = line.with(["client": .string(client.description)]) }
        if let trace = context.trace { line = line.with(["traceId": .string(trace.traceID)]) }
        if let source = outcome.source { line = line.with(["source": .string(SourceLabel.text(source))]) }
        if let error = outcome.error { line = line.with(["error": .string(error.code)]) }
        if let detail = outcome.error?.logDetail { line = line.with(["detail": .string(detail)]) }
        line.log(level, "request")
    }
}

extension ServiceError {
    /// Even without an access log: not if the client disconnected.
    fileprivate var needsExplanation: Bool { category == .internal || (logDetail != nil && category != .cancelled) }
}
