import Dialects
import Downloading
import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// A request on its way through a listener's door.
struct Exchange: Sendable {
    /// The request; nil if the server rejected it before it was read.
    let request: HTTPRequest?
    /// Bytes of the body; nil for a chunked one.
    let bodyLength: Int?
    /// The request's ID, sent as `X-Request-Id`; also the receipt of its wait.
    let id: String
    /// When the request's header was complete, by the monotonic clock.
    let startedAt: Duration
    let route: Route
    let client: IPAddress?
    let isProxied: Bool
    let trace: RequestTrace?

    var method: HTTPRequest.Method? { request?.method }
}

/// A response with what the door records about it.
struct Answer: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    /// The source as the client named it.
    var source: String?
    var error: (any ServiceError)?
    /// Whether the response names the receipt of its request.
    var hasReceipt = false
    /// The image that replaces the body of a failure; nil for none.
    var fallbackImage: FallbackImage?
}

/// An answer, now or later.
enum Reply: Sendable {
    case ready(Answer)
    /// A complete response shared by many requests, which is recorded where it is built.
    case recurring(RecurringResponse, by: any RecurringResponder)
    case later(Later)

    enum Later: Sendable {
        /// An answer computed by a task, which is cancelled when the client disconnects.
        case task(@Sendable () async -> Answer)
        case wait(Wait)
    }

    struct Wait: Sendable {
        let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
        let reply: @Sendable () -> Reply
        let onAbandon: @Sendable () -> Answer
    }
}
