import Dialects
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

struct RequestContext: Sendable {
    /// Nil if the server rejected it before it was read.
    let request: HTTPRequest?
    /// Nil for a chunked body.
    let bodyLength: Int?
    /// Sent as `X-Request-Id`; also the receipt of the request's wait.
    let id: String
    /// When the header was complete, by the monotonic clock.
    let startedAt: Duration
    let route: Route
    let client: IPAddress?
    let isProxied: Bool
    let trace: RequestTrace?

    var method: HTTPRequest.Method? { request?.method }
}

/// A change by an operator, for the log.
struct AuditedAction: Sendable {
    let name: String
    /// Such as a URL, a tag or an ID, with the name of its kind.
    var subject: (kind: String, value: String)?
    /// Changed or removed.
    var entries: Int?
    /// Of an action with a response of success.
    var failure: (any ServiceError)?

    init(_ name: String, _ subject: (kind: String, value: String)? = nil) {
        (self.name, self.subject) = (name, subject)
    }
}

/// A response, and what middleware records about it.
struct Outcome: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    var source: String?
    /// Nil for failures, and for responses that are no image or facts of one.
    var cache: CacheUse?
    var error: (any ServiceError)?
    var hasReceipt = false
    var fallbackImage: FallbackImage?
    var action: AuditedAction?
}
