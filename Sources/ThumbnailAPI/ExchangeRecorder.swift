import Coordination
import HTTPTypes
import Telemetry
import ThumbnailPipeline

/// Ends every exchange of the public listener: the last fields, the metrics and the log line.
struct ExchangeRecorder: Sendable {
    /// Whether each exchange has a log line.
    let isLoggingAll: Bool
    private let logger: Logger
    private let metrics: APIMetrics
    private let timekeeper: any Timekeeper

    /// Logs to `logger`: all requests, or only the failures that need an explanation.
    init(isLoggingAll: Bool, logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper) {
        self.isLoggingAll = isLoggingAll && logger.level <= .info
        self.logger = logger
        self.metrics = metrics
        self.timekeeper = timekeeper
    }

    /// Completes `response` and records it.
    ///
    /// - Parameters:
    ///   - response: What is answered.
    ///   - exchange: What it answers.
    ///   - timings: The steps for `Server-Timing`.
    ///   - source: The thumbnail's source as the client named it.
    ///   - error: What went wrong, where something did.
    func finish(
        _ response: HTTPResponse, _ exchange: Exchange, timings: [StepTiming] = [], source: String? = nil,
        error: (any ServiceError)? = nil
    ) -> HTTPResponse {
        var response = response
        let elapsed = timekeeper.now - exchange.startedAt
        if exchange.route.servesImages {
            response.headerFields.append(.serverTiming, ServerTimingText.text(timings, total: elapsed))
        }
        response.headerFields.append(.xRequestID, exchange.requestID)
        metrics.record(route: exchange.route, status: response.status.code, seconds: elapsed.seconds)
        let needsExplanation = error.map { $0.needsExplanation } ?? false
        if isLoggingAll || needsExplanation {
            log(response, exchange, elapsed: elapsed, source: source, error: error)
        }
        return response
    }

    /// Records an exchange whose answer has nothing of its own.
    func count(_ status: HTTPResponse.Status, _ route: PublicRoute, since start: Duration) {
        metrics.record(route: route, status: status.code, seconds: (timekeeper.now - start).seconds)
    }

    private func log(
        _ response: HTTPResponse, _ exchange: Exchange, elapsed: Duration, source: String?,
        error: (any ServiceError)?
    ) {
        let level: Logger.Level = error?.category == .internal ? .error : .info
        guard level >= logger.level else { return }
        let hasBody = exchange.method != .head && response.status != .notModified
        let microseconds = (elapsed.milliseconds * 1_000).rounded()
        var line = logger.with([
            "requestId": .string(exchange.requestID), "method": .string(exchange.method?.rawValue ?? "-"),
            "route": .string(exchange.route.label), "status": .int(response.status.code),
            "bytes": .int(hasBody ? response.body.count : 0), "durationMs": .double(microseconds / 1_000),
        ])
        if let source { line = line.with(["source": .string(SourceLabel.text(source))]) }
        if let error { line = line.with(["error": .string(error.code)]) }
        if let detail = error?.logDetail { line = line.with(["detail": .string(detail)]) }
        line.log(level, "request")
    }
}

extension ServiceError {
    /// Whether an operator who wants no line for each request wants one for this: not for what its client has given up.
    fileprivate var needsExplanation: Bool {
        category == .internal || (logDetail != nil && category != .cancelled)
    }
}
