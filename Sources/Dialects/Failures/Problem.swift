package import HTTPTypes
import JSON
package import ThumbnailTypes

/// A failed request, with everything in its response.
package struct Problem: Sendable {
    package let error: any ServiceError
    package let requestID: String
    package let common: HTTPFields
    /// Whether the client learns which rule rejected a source; otherwise only the log contains it.
    package let tellsRules: Bool

    package init(_ error: any ServiceError, requestID: String, common: HTTPFields, tellsRules: Bool = false) {
        self.error = error
        self.tellsRules = tellsRules
        self.requestID = requestID
        self.common = common
    }

    /// The response as `application/problem+json` (RFC 9457).
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
        return HTTPResponse(status: error.status, headerFields: fields, body: .text(text))
    }

    /// Returns the response with another service's status; nil for Alula's own.
    func response(under status: HTTPResponse.Status?) -> HTTPResponse {
        guard let status, status != error.status else { return response }
        return Problem(
            RestatedError(underlying: error, status: status), requestID: requestID, common: common,
            tellsRules: tellsRules
        ).response
    }

    package var text: String {
        var members: [(String, JSONValue)] = [
            ("type", .string("about:blank")), ("title", .string(Self.title(of: error.status))),
            ("status", .int(error.status.code)),
            ("detail", .string(tellsRules ? error.operatorMessage : error.publicMessage)),
            ("code", .string(error.code)),
        ]
        if let parameter = error.parameter { members.append(("parameter", .string(parameter))) }
        if !error.allowed.isEmpty { members.append(("allowed", .array(error.allowed.map { .string($0) }))) }
        if let nearest = error.nearest { members.append(("nearest", .string(nearest))) }
        if let upstream = error.upstreamStatus { members.append(("upstreamStatus", .int(upstream))) }
        members.append(("requestId", .string(requestID)))
        return JSONValue.object(members).text
    }

    private static func title(of status: HTTPResponse.Status) -> String {
        switch status {
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .notAcceptable: "Not Acceptable"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .lengthRequired: "Length Required"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .unprocessableContent: "Unprocessable Content"
        case .requestHeaderFieldsTooLarge: "Request Header Fields Too Large"
        case .internalServerError: "Internal Server Error"
        case .badGateway: "Bad Gateway"
        case .serviceUnavailable: "Service Unavailable"
        case .gatewayTimeout: "Gateway Timeout"
        case .httpVersionNotSupported: "HTTP Version Not Supported"
        default: "Error"
        }
    }
}

/// A failure with another status, otherwise unchanged.
private struct RestatedError: ServiceError {
    let underlying: any ServiceError
    let status: HTTPResponse.Status

    var code: String { underlying.code }
    var publicMessage: String { underlying.publicMessage }
    var logDetail: String? { underlying.logDetail }
    var category: ErrorCategory { underlying.category }
    var parameter: String? { underlying.parameter }
    var allowed: [String] { underlying.allowed }
    var nearest: String? { underlying.nearest }
    var upstreamStatus: Int? { underlying.upstreamStatus }
    var retryAfter: Int? { underlying.retryAfter }
}
