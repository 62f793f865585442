import Dialects
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

    var method: HTTPRequest.Method? { request?.method }

    /// - Parameter error: The failure that the response reports, if any.
    func account(after error: (any ServiceError)?) -> TenantAccount? {
        let isUnsigned = error.map { [.badSignature, .badKey].contains($0.response.code) } ?? false
        return tenant?.account(isSigned: !isUnsigned)
    }
}
