/// A finished piece of a request's work (OpenTelemetry, "Span").
package struct Span: Sendable {
    /// The part that the service plays in the work.
    package enum Kind: Int, Sendable {
        /// Work within the service.
        case `internal` = 1
        /// The answer to a client's request.
        case server = 2
        /// A request to another server.
        case client = 3
    }

    /// Named values, in the order in which they are written.
    package typealias Attributes = [(String, Logger.MetadataValue)]

    /// The name, out of a fixed set.
    package let name: String
    /// The part that the service plays.
    package let kind: Kind
    /// Its place in the trace.
    package let context: TraceContext
    /// The span that it is a part of; nil for the first one of a trace.
    package let parentID: TraceContext.SpanID?
    /// When it began and ended, in nanoseconds since 1970.
    package let time: Range<UInt64>
    package let attributes: Attributes
    /// The spans of other requests whose work it waited for.
    package let links: [TraceContext]
    /// The failure; nil if there was none.
    package let failure: String?
}
