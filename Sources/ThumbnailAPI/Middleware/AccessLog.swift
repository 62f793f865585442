import Coordination
import Dialects
import Downloading
import HTTPTypes
import Recipes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct AccessLog: ResponseCompletion {
    let choice: AccessLogChoice
    let logger: Logger

    var isLoggingAll: Bool { choice == .on && logger.level <= .info }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        let isFailure = outcome.response.status.code >= 400
        let isIncluded = choice == .on || choice == .errors && isFailure
        guard isIncluded || outcome.error?.needsExplanation == true else { return }
        var level = Logger.Level.info
        if outcome.error?.category == .internal { level = .error } else if context.route.isProbe { level = .debug }
        guard level >= logger.level else { return }
        logger.log(level, "request", fields: Self.fields(outcome, in: context, at: now))
    }

    static func fields(
        _ outcome: Outcome, in context: RequestContext, at now: Duration
    ) -> [(String, Logger.MetadataValue)] {
        let response = outcome.response
        let hasBody = context.method != .head && response.status != .notModified
        var fields: [(String, Logger.MetadataValue)] = []
        fields.reserveCapacity(maximumFields)
        func append(_ name: String, _ value: Logger.MetadataValue) { fields.append((name, value)) }
        append("requestId", .string(context.id))
        append("method", .string(context.method?.rawValue ?? "-"))
        append("route", .string(context.route.label))
        append("status", .int(response.status.code))
        append("bytes", .int(hasBody ? response.body.count : 0))
        append("durationMs", milliseconds(now - context.startedAt))
        if let client = context.client { append("client", .string(client.description)) }
        if let trace = context.trace { append("traceId", .string(trace.traceID)) }
        if let label = outcome.label
            ?? context.request.map({
                RequestLabel(
                    of: $0, at: context.route, tenant: context.account(after: outcome.error)?.name ?? "default")
            })
        {
            fields += label.fields
        }
        if let image = outcome.image {
            append("width", .int(image.size.width))
            append("height", .int(image.size.height))
            append("format", .string(image.format.rawValue))
        }
        if let cache = outcome.cache { append("cache", .string(cache.rawValue)) }
        if !outcome.timings.isEmpty {
            for (name, time) in phases(outcome.timings) { append(name + "Ms", milliseconds(time)) }
        }
        if let error = outcome.error {
            append("code", .string(error.code))
            append("error", .string(error.code))
            if let detail = error.logDetail { append("detail", .string(detail)) }
        }
        return fields
    }

    /// Returns the phases that occurred; the queue includes waits for a download slot, a turn, memory and a thread.
    private static func phases(_ timings: [StepTiming]) -> [(name: String, time: Duration)] {
        func time(_ name: String) -> Duration? { timings.last { $0.name == name }?.duration }
        var queue = time("queue")
        var download: Duration?
        if let source = time("source") {
            // A transfer that other requests share may have begun earlier.
            let transfer = min(time("transfer") ?? source, source)
            queue = (queue ?? .zero) + source - transfer
            download = transfer
        }
        return [
            ("queue", queue), ("download", download), ("decode", time("decode")), ("render", time("render")),
            ("encode", time("encode")),
        ].compactMap { name, time in time.map { (name, $0) } }
    }

    private static let maximumFields = 24

    /// Milliseconds with three decimals.
    private static func milliseconds(_ duration: Duration) -> Logger.MetadataValue {
        .double((duration.milliseconds * 1_000).rounded() / 1_000)
    }
}

extension ServiceError {
    /// Whether to log the error even without an access log, unless the client disconnected.
    fileprivate var needsExplanation: Bool { category == .internal || (logDetail != nil && category != .canceled) }
}

extension RequestLabel {
    /// - Parameter source: The source, if the target does not contain it.
    convenience init(of request: HTTPRequest, at route: Route, tenant: ExactText, source: String? = nil) {
        guard let images = route.images else {
            let path = String(request.target.prefix(before: UInt8(ascii: "?")))
            self.init(target: route.isNone ? SourceLabel.text(path) : path, source: source, tenant: tenant, keyID: nil)
            return
        }
        let target = RequestedTarget(request)
        self.init(
            target: images.dialect.loggedTarget(target), source: source ?? images.dialect.loggedSource(target),
            tenant: tenant, keyID: images.keyID(of: target) ?? images.dialect.namedKeyID(of: target))
    }
}
