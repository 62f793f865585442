import Coordination

/// The trace of a request in progress.
///
/// The task that handles the request carries it in ``current``, and so do the tasks that it starts: shared work belongs
/// to the trace of the request that started it. Safe to use on any thread.
package final class RequestTrace: Sendable {
    /// Nil if the current task's request is not traced.
    @TaskLocal package static var current: RequestTrace?

    package let context: TraceContext
    private let parentID: TraceContext.SpanID?
    private let tracer: Tracer
    /// The monotonic clock's zero, in nanoseconds since 1970.
    private let clockStart: Int64

    init(_ context: TraceContext, parentID: TraceContext.SpanID?, tracer: Tracer, clockStart: Int64) {
        self.context = context
        self.parentID = parentID
        self.tracer = tracer
        self.clockStart = clockStart
    }

    package var traceID: String { context.traceID.text }

    /// Nil if the collector does not get it.
    package var recordedID: String? { context.isSampled ? traceID : nil }

    package func newContext() -> TraceContext {
        TraceContext(traceID: context.traceID, spanID: tracer.newSpanID(), isSampled: context.isSampled)
    }

    /// The root of the other spans.
    ///
    /// - Parameters:
    ///   - name: Such as `GET` and the route.
    ///   - time: By the monotonic clock.
    ///   - failure: The error code; nil if the request succeeded or the client caused the error.
    package func finish(
        _ name: String, time: Range<Duration>, attributes: @autoclosure () -> Span.Attributes, failure: String? = nil
    ) {
        guard context.isSampled else { return }
        tracer.enqueue(
            span(
                name, kind: .server, context: context, within: parentID, time: time, attributes: attributes(),
                links: [], failure: failure))
    }

    /// - Parameters:
    ///   - name: From a fixed set.
    ///   - context: From before the span began; nil for a new one.
    ///   - parent: Nil for the request's own span.
    ///   - time: By the monotonic clock.
    ///   - links: The spans of other requests that it waited for.
    package func record(
        _ name: String, kind: Span.Kind = .internal, as context: TraceContext? = nil,
        within parent: TraceContext? = nil, time: Range<Duration>, attributes: @autoclosure () -> Span.Attributes = [],
        links: [TraceContext] = [], failure: String? = nil
    ) {
        guard self.context.isSampled else { return }
        tracer.enqueue(
            span(
                name, kind: kind, context: context ?? newContext(), within: (parent ?? self.context).spanID, time: time,
                attributes: attributes(), links: links, failure: failure))
    }

    private func span(
        _ name: String, kind: Span.Kind, context: TraceContext, within parentID: TraceContext.SpanID?,
        time: Range<Duration>, attributes: Span.Attributes, links: [TraceContext], failure: String?
    ) -> Span {
        func moment(_ time: Duration) -> UInt64 { UInt64(clamping: clockStart &+ time.nanoseconds) }
        let start = moment(time.lowerBound)
        return Span(
            name: name, kind: kind, context: context, parentID: parentID,
            time: start..<max(start, moment(time.upperBound)), attributes: attributes, links: links, failure: failure)
    }
}

package struct Span: Sendable {
    package enum Kind: Int, Sendable {
        case `internal` = 1
        /// The response to a client's request.
        case server = 2
        /// A request to another server.
        case client = 3
    }

    package typealias Attributes = [(String, Logger.MetadataValue)]

    package let name: String
    package let kind: Kind
    package let context: TraceContext
    /// Nil for the root of a trace.
    package let parentID: TraceContext.SpanID?
    package let time: Range<UInt64>
    package let attributes: Attributes
    /// Spans of other requests that it waited for.
    package let links: [TraceContext]
    package let failure: String?
}
