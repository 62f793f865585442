import Coordination

/// The trace of one request while the request is being answered.
///
/// The task that answers the request carries it in ``current``, and so do the tasks of work that this request starts:
/// shared work belongs to the trace of the request that started it. Safe to use on any thread.
package final class RequestTrace: Sendable {
    /// The trace of the request that the current task works for; nil if that is not traced.
    @TaskLocal package static var current: RequestTrace?

    /// The request's own span.
    package let context: TraceContext
    private let parentID: TraceContext.SpanID?
    private let tracer: Tracer
    /// Nanoseconds since 1970 at the zero of the monotonic clock.
    private let origin: Int64

    init(_ context: TraceContext, parentID: TraceContext.SpanID?, tracer: Tracer, origin: Int64) {
        self.context = context
        self.parentID = parentID
        self.tracer = tracer
        self.origin = origin
    }

    /// The trace's identifier as log lines carry it.
    package var traceID: String { context.traceID.text }

    /// A place in the trace for a span that is not finished yet, so that others can be told of it.
    package func newContext() -> TraceContext {
        TraceContext(traceID: context.traceID, spanID: tracer.newSpanID(), isSampled: context.isSampled)
    }

    /// Records the request's own span, which contains all others.
    ///
    /// - Parameters:
    ///   - name: `GET` and the route, for instance.
    ///   - time: Its beginning and end by the monotonic clock.
    ///   - failure: The code of the error; nil if the service did what it was asked, or the client was wrong.
    package func finish(
        _ name: String, time: Range<Duration>, attributes: @autoclosure () -> Span.Attributes, failure: String? = nil
    ) {
        guard context.isSampled else { return }
        tracer.take(
            span(name, .server, context, within: parentID, time, attributes(), links: [], failure))
    }

    /// Records a piece of the request's work.
    ///
    /// - Parameters:
    ///   - name: Out of a fixed set.
    ///   - kind: The part that the service plays.
    ///   - context: The place that was made for the span before it began; nil for a new one.
    ///   - parent: The span that it is a part of; nil for the request's own.
    ///   - time: Its beginning and end by the monotonic clock.
    ///   - links: The spans of other requests whose work it waited for.
    ///   - failure: The failure; nil if there was none.
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
