package import HTTPTypes
import JSON
package import ThumbnailTypes

package struct Problem: Sendable {
    package let error: any ServiceError
    package let requestID: String
    package let common: HTTPFields
    /// Whether clients see the rule that rejected a source, not only the log.
    package let revealsRules: Bool

    package init(_ error: any ServiceError, requestID: String, common: HTTPFields, revealsRules: Bool = false) {
        self.error = error
        self.revealsRules = revealsRules
        self.requestID = requestID
        self.common = common
    }

    /// `application/problem+json` (RFC 9457).
    ///
    /// `type` is `about:blank`, so `title` names the status (section 4.2.1); `code` distinguishes failures. Failures
    /// are uncacheable, because a cached one would outlive its cause; the service itself caches suitable failures.
    package var response: HTTPResponse {
        var fields = common
        fields.append(.contentType, "application/problem+json")
        fields.append(.cacheControl, "no-store")
        if error.status == .serviceUnavailable {
            fields.append(.retryAfter, String(max(1, error.retryAfter ?? 1)))
        } else if let seconds = error.retryAfter {
            fields.append(.retryAfter, String(seconds))
        }
        if let limit = error.response.rateLimit {
            fields.append(.rateLimit, limit.current)
            fields.append(.rateLimitPolicy, limit.policy)
        }
        return HTTPResponse(status: error.status, headerFields: fields, body: .text(text))
    }

    func response(under status: HTTPResponse.Status?) -> HTTPResponse {
        guard let status, status != error.status else { return response }
        var response = error.response
        response.status = status
        return Problem(
            RestatedError(response: response), requestID: requestID, common: common, revealsRules: revealsRules
        ).response
    }

    package var text: String {
        var members: [(String, JSONValue)] = [
            ("type", .string("about:blank")), ("title", .string(error.status.reasonPhrase ?? "Error")),
            ("status", .int(error.status.code)),
            ("detail", .string(revealsRules ? error.operatorMessage : error.publicMessage)),
            ("code", .string(error.code)),
        ]
        if let parameter = error.parameter { members.append(("parameter", .string(parameter))) }
        if !error.allowed.isEmpty { members.append(("allowed", .array(error.allowed.map { .string($0) }))) }
        if let nearest = error.nearest { members.append(("nearest", .string(nearest))) }
        if let upstream = error.upstreamStatus { members.append(("upstreamStatus", .int(upstream))) }
        members.append(("requestId", .string(requestID)))
        return JSONValue.object(members).text
    }
}

private struct RestatedError: ServiceError {
    let response: ErrorResponse
}
