import Dialects
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

struct Exchange: Sendable {
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

struct Answer: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    var source: String?
    var error: (any ServiceError)?
    var hasReceipt = false
    var fallbackImage: FallbackImage?
}

enum Reply: Sendable {
    case ready(Answer)
    /// Shared by many requests, and recorded where it is built.
    case recurring(RecurringResponse, by: any RecurringResponder)
    case later(Later)

    enum Later: Sendable {
        /// Canceled when the client disconnects.
        case task(@Sendable () async -> Answer)
        case wait(Wait)
    }

    struct Wait: Sendable {
        let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
        let reply: @Sendable () -> Reply
        let onAbandon: @Sendable () -> Answer
    }
}
