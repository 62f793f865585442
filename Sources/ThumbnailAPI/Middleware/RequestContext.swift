import Dialects
import Downloading
import HTTPTypes
import Recipes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct RequestContext: Sendable {
    /// The request; nil if the server rejected it before it was read.
    let request: HTTPRequest?
    /// The length of the body; nil for a chunked body.
    let bodyLength: Int?
    /// The request ID: a trusted proxy's, otherwise the receipt; sent as `X-Request-Id` and logged.
    let id: String
    /// Identifies the request's wait, even if a proxy gives several requests the same ID.
    let receipt: String
    /// The monotonic time at which the header was complete.
    let startedAt: Duration
    let route: Route
    let client: IPAddress?
    let isProxied: Bool
    let trace: RequestTrace?
    /// The tenant; nil if costs are not recorded.
    let tenant: RequestTenant?

    /// - Parameter error: The failure that the response reports, if any.
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
        self.request = request
        self.bodyLength = bodyLength
        self.receipt = receipt
        self.startedAt = startedAt
        self.route = route
        self.client = client
        self.isProxied = isProxied
        self.trace = trace
        id = isProxied ? request?.headerFields[.xRequestID].flatMap(RequestIDs.proxyID) ?? receipt : receipt
    }
    var hasProxyID: Bool { id != receipt }
}

/// A change by an operator, for the log.
struct AuditedAction: Sendable {
    let name: String
    /// The kind and value of the action's object, such as a URL, a tag or an ID.
    var subject: (kind: String, value: String)?
    var entries: Int?
    /// The failure of an action that responds with success, such as a refresh.
    var failure: (any ServiceError)?

    init(_ name: String, _ subject: (kind: String, value: String)? = nil) {
        self.name = name
        self.subject = subject
    }
}

/// A response, and what middleware records about it.
struct Outcome: Sendable {
    var response: HTTPResponse
    var timings: [StepTiming] = []
    /// The label for the log; nil to derive it from the request.
    var label: RequestLabel?
    /// The image that was sent or not modified.
    var image: EncodedImage?
    /// The use of the cache; nil for failures, and for responses other than images and facts.
    var cache: CacheUse?
    var error: (any ServiceError)?
    var hasReceipt = false
    var fallbackImage: FallbackImage?
    /// The costs; nil if the request took no work.
    var bill: RequestBill?
    var action: AuditedAction?
}
