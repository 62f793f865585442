import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Traces requests; names follow OpenTelemetry's HTTP server conventions.
struct Tracing: RequestPreparation, ResponseCompletion {
    /// Nil if the service exports no traces.
    let tracer: Tracer?

    func prepare(_ context: inout RequestContext) {
        guard let tracer, let request = context.request else { return }
        let parent = context.isProxied ? request.headerFields[.traceparent] : nil
        context.trace = tracer.begin(continuing: parent.flatMap { TraceContext(traceparent: $0) })
    }

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        context.trace?.finish(
            context.route, method: context.method, id: context.id, status: outcome.response.status.code,
            error: outcome.error, time: context.startedAt..<max(context.startedAt, now))
    }

    /// Records `hit` if it is sampled; returns the ID of its trace.
    func record(_ hit: RepeatedHit) -> String? {
        guard let trace = tracer?.beginIfSampled() else { return nil }
        trace.finish(
            .client(.images(hit.route)), method: .get, id: nil, status: HTTPResponse.Status.ok.code, error: nil,
            time: hit.startedAt..<max(hit.startedAt, hit.endedAt))
        return trace.recordedID
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
