import Coordination
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

struct AccessLog: ResponseCompletion {
    private let choice: AccessLogChoice
    private let logger: Logger

    init(_ choice: AccessLogChoice, logger: Logger) { (self.choice, self.logger) = (choice, logger) }

    var isLoggingAll: Bool { choice == .on && logger.level <= .info }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        let isFailure = outcome.response.status.code >= 400
        let isIncluded = choice == .on || choice == .errors && isFailure
        guard isIncluded || outcome.error?.needsExplanation == true else { return }
        var level = Logger.Level.info
        if outcome.error?.category == .internal { level = .error } else if context.route.isProbe { level = .debug }
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
