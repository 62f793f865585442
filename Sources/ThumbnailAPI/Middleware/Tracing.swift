import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Finishes the trace of a request; names follow OpenTelemetry's HTTP server conventions.
struct Tracing: ResponseCompletion {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        context.trace?.finish(
            context.route, method: context.method, id: context.id, status: outcome.response.status.code,
            error: outcome.error,
            time: context.startedAt..<max(context.startedAt, now))
    }
}

extension RequestTrace {
    func finish(
        _ route: Route, method: HTTPRequest.Method?, id: String?, status: Int, error: (any ServiceError)?,
        time: Range<Duration>
    ) {
        let method = method.conventionalName
        let route = route.attribute
        var attributes: [(String, Logger.MetadataValue)] = [
            ("http.request.method", .string(method)),
            ("url.scheme", "http"),
            ("http.response.status_code", .int(status)),
        ]
        if !route.isEmpty { attributes.append(("http.route", .string(route))) }
        if let id { attributes.append(("alula.request_id", .string(id))) }
        if let error { attributes.append(("error.type", .string(error.code))) }
        finish(
            "\(method == "_OTHER" ? "HTTP" : method)\(route.isEmpty ? "" : " ")\(route)", time: time,
            attributes: attributes, failure: status >= 500 ? error?.code ?? "internal" : nil)
    }
}
