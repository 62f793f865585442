import Downloading
import HTTPTypes
import Telemetry
import Text
import ThumbnailTypes

/// Logs one line for each admin request; actions at level `info`.
struct AdminLog: ResponseCompletion {
    let logger: Logger

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard let request = context.request else { return }
        let error = outcome.action?.failure ?? outcome.error
        var line = logger.with([
            "requestId": .string(context.id),
            // Peers on a Unix socket have no address.
            "client": .string(context.client?.description ?? "unix"),
        ])
        if let action = outcome.action {
            line = line.with(["action": .string(action.name)])
            if let (kind, value) = action.subject { line = line.with([kind: .string(SourceLabel.url(value))]) }
            if let entries = action.entries { line = line.with(["entries": .int(entries)]) }
        } else {
            let path = request.target.prefix(before: UInt8(ascii: "?"))
            line = line.with([
                "method": .string(request.method.rawValue), "path": .string(SourceLabel.text(String(path))),
            ])
        }
        line = line.with(["status": .int(outcome.response.status.code)])
        if let error { line = line.with(["error": .string(error.code)]) }
        if let detail = error?.logDetail { line = line.with(["detail": .string(detail)]) }
        line.log(level: level(of: outcome, to: request), outcome.action == nil ? "operator request" : "operator action")
    }

    private func level(of outcome: Outcome, to request: HTTPRequest) -> Logger.Level {
        if outcome.error?.category == .internal { return .error }
        if outcome.action != nil { return .info }
        if outcome.error?.category == .policy { return .warning }
        return request.method == .delete || request.method == .post ? .info : .debug
    }
}
