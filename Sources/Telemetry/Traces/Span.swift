/// A finished unit of a request's work (OpenTelemetry, "Span").
package struct Span: Sendable {
    /// The role of the service in the work.
    package enum Kind: Int, Sendable {
        /// Work within the service.
        case `internal` = 1
        /// The response to a client's request.
        case server = 2
        /// A request to another server.
        case client = 3
    }

    /// Named values, in the order in which they are written.
    package typealias Attributes = [(String, Logger.MetadataValue)]

    /// The name, from a fixed set.
    package let name: String
    package let kind: Kind
    package let context: TraceContext
    /// The parent span; nil for the root of a trace.
    package let parentID: TraceContext.SpanID?
    /// The interval, in nanoseconds since 1970.
    package let time: Range<UInt64>
    package let attributes: Attributes
    /// The spans of other requests that it waited for.
    package let links: [TraceContext]
    package let failure: String?
}
