import Coordination

/// The trace of a request in progress.
///
/// The task that handles the request carries it in ``current``, and so do the tasks that it starts: shared work belongs
/// to the trace of the request that started it. Safe to use on any thread.
package final class RequestTrace: Sendable {
    /// The trace of the request that the current task works for; nil if the request is not traced.
    @TaskLocal package static var current: RequestTrace?

    package let context: TraceContext
    private let parentID: TraceContext.SpanID?
    private let tracer: Tracer
    /// The time of the monotonic clock's zero, in nanoseconds since 1970.
    private let origin: Int64

    init(_ context: TraceContext, parentID: TraceContext.SpanID?, tracer: Tracer, origin: Int64) {
        self.context = context
        self.parentID = parentID
        self.tracer = tracer
        self.origin = origin
    }

    package var traceID: String { context.traceID.text }

    /// Returns a context for an unfinished span, which other services can refer to.
    package func newContext() -> TraceContext {
        TraceContext(traceID: context.traceID, spanID: tracer.newSpanID(), isSampled: context.isSampled)
    }

    /// Records the request's own span, the root of the others.
    ///
    /// - Parameters:
    ///   - name: A name such as `GET` and the route.
    ///   - time: The interval by the monotonic clock.
    ///   - failure: The error code; nil if the request succeeded or the client caused the error.
    package func finish(
        _ name: String, time: Range<Duration>, attributes: @autoclosure () -> Span.Attributes, failure: String? = nil
    ) {
        guard context.isSampled else { return }
        tracer.take(
            span(name, .server, context, within: parentID, time, attributes(), links: [], failure))
    }

    /// Records a span of the request's work.
    ///
    /// - Parameters:
    ///   - name: A name from a fixed set.
    ///   - kind: The role of the service.
    ///   - context: The context created before the span began; nil for a new one.
    ///   - parent: The parent span; nil for the request's own span.
    ///   - time: The interval by the monotonic clock.
    ///   - links: The spans of other requests that it waited for.
    ///   - failure: The error code, if any.
    package func record(
        _ name: String, _ kind: Span.Kind = .internal, as context: TraceContext? = nil,
        within parent: TraceContext? = nil,
        time: Range<Duration>, attributes: @autoclosure () -> Span.Attributes = [], links: [TraceContext] = [],
        failure: String? = nil
    ) {
        guard self.context.isSampled else { return }
        tracer.take(
            span(
                name, kind, context ?? newContext(), within: (parent ?? self.context).spanID, time, attributes(),
                links: links, failure))
    }

    private func span(
        _ name: String, _ kind: Span.Kind, _ context: TraceContext, within parentID: TraceContext.SpanID?,
        _ time: Range<Duration>, _ attributes: Span.Attributes, links: [TraceContext], _ failure: String?
    ) -> Span {
        func moment(_ time: Duration) -> UInt64 { UInt64(clamping: origin &+ time.nanoseconds) }
        let start = moment(time.lowerBound)
        return Span(
            name: name, kind: kind, context: context, parentID: parentID,
            time: start..<max(start, moment(time.upperBound)),
            attributes: attributes, links: links, failure: failure)
    }
}
