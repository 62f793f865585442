import Dialects
import HTTPTypes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct RequestContext: Sendable {
    /// The request; nil if the server rejected it before it was read.
    let request: HTTPRequest?
    /// The length of the body; nil for a chunked body.
    let bodyLength: Int?
    /// The monotonic time at which the header was complete.
    let startedAt: Duration
    let route: Route
    /// The tenant; nil if costs are not recorded.
    let tenant: RequestTenant?
    var client: IPAddress?
    var isProxied = false
    /// The request ID: a trusted proxy's, otherwise the receipt; sent as `X-Request-Id` and logged.
    var id = ""
    /// Identifies the request's wait, even if a proxy gives several requests the same ID.
    var receipt = ""
    var trace: RequestTrace?

    var hasProxyID: Bool { id != receipt }

    var method: HTTPRequest.Method? { request?.method }

    /// - Parameter error: The failure that the response reports, if any.
    func account(after error: (any ServiceError)?) -> TenantAccount? {
        let isUnsigned = error.map { [.badSignature, .badKey].contains($0.response.code) } ?? false
        return tenant?.account(isSigned: !isUnsigned)
    }
}

extension TrustedProxies: RequestPreparation {
    func prepare(_ context: inout RequestContext) {
        guard let request = context.request else { return }
        (context.client, context.isProxied) = sender(of: request)
    }
}
