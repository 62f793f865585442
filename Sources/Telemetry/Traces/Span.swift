package struct Span: Sendable {
    package enum Kind: Int, Sendable {
        /// Work within the service.
        case `internal` = 1
        /// The response to a client's request.
        case server = 2
        /// A request to another server.
        case client = 3
    }

    /// In the order in which they are written.
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
