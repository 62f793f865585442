import HTTPTypes
import JSON
import ThumbnailPipeline

/// Answers health checks, alike on both listeners.
enum HealthAnswer {
    /// The process answers at all.
    static func live(common: HTTPFields) -> HTTPResponse { ok("live", common: common) }

    /// The service wants requests; 503 once it is on its way out.
    static func ready(_ lifecycle: ServiceLifecycle, requestID: String, common: HTTPFields) -> HTTPResponse {
        lifecycle.isReady
            ? ok("ready", common: common)
            : Problem(APIError.draining, requestID: requestID, common: common).response
    }

    private static func ok(_ status: String, common: HTTPFields) -> HTTPResponse {
        var fields = common
        fields.append(.contentType, "application/json")
        fields.append(.cacheControl, "no-store")
        return HTTPResponse(
            status: .ok, headerFields: fields, body: .text(JSONValue.object([("status", .string(status))]).text))
    }
}
