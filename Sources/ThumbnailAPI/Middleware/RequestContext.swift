import Dialects
import Downloading
import HTTPTypes
import Recipes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct RequestContext: Sendable {
    /// Nil if the server rejected it before it was read.
    let request: HTTPRequest?
    /// Nil for a chunked body.
    let bodyLength: Int?
    /// Sent as `X-Request-Id`, and in logs, events and traces: a trusted proxy's, or the receipt.
    let id: String
    /// Names the request's wait, also where a proxy gives several requests one ID.
    let receipt: String
    /// The time at which the header was complete, by the monotonic clock.
    let startedAt: Duration
    let route: Route
    let client: IPAddress?
    let isProxied: Bool
    let trace: RequestTrace?
    /// Nil if nothing accounts for the request.
    let tenant: RequestTenant?

    /// - Parameter error: The failure that the response reports; nil for none.
    func account(after error: (any ServiceError)?) -> TenantAccount? {
        let isUnsigned = error.map { [.badSignature, .badKey].contains($0.response.code) } ?? false
        return tenant?.account(isSigned: !isUnsigned)
    }

    var method: HTTPRequest.Method? { request?.method }

    init(
        request: HTTPRequest?, bodyLength: Int?, receipt: String, startedAt: Duration, route: Route,
        client: IPAddress?, isProxied: Bool, trace: RequestTrace?, tenant: RequestTenant? = nil
    ) {
        self.tenant = tenant
        (self.request, self.bodyLength, self.receipt, self.startedAt) = (request, bodyLength, receipt, startedAt)
        (self.route, self.client, self.isProxied, self.trace) = (route, client, isProxied, trace)
        id = isProxied ? request?.headerFields[.xRequestID].flatMap(RequestIDs.proxyID) ?? receipt : receipt
    }

    /// Whether a proxy chose the ID.
    var isNamed: Bool { id != receipt }
}

/// A change by an operator, for the log.
struct AuditedAction: Sendable {
    let name: String
    /// The object of an operator's request, such as a URL, a tag or an ID, with the name of its kind.
    var subject: (kind: String, value: String)?
    /// The number of entries removed, canceled, revalidated or begun, or of settings changed.
    var entries: Int?
    /// The failure of an action whose response is a success, such as a refresh.
    var failure: (any ServiceError)?

    init(_ name: String, _ subject: (kind: String, value: String)? = nil) {
        (self.name, self.subject) = (name, subject)
    }
}

/// A response, and what middleware records about it.
struct Outcome: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    /// Nil if the log derives it from the request.
    var label: RequestLabel?
    /// The image that was sent, or was not modified.
    var image: EncodedImage?
    /// Nil for failures, and for responses that are no image or facts of one.
    var cache: CacheUse?
    var error: (any ServiceError)?
    var hasReceipt = false
    var fallbackImage: FallbackImage?
    /// Nil if the request took no work.
    var bill: RequestBill?
    var action: AuditedAction?
}
