import Dialects
package import HTTPTypes

/// On every path, and nothing else: for scrapers that must not reach the admin listener.
package struct MetricsResponder: RequestResponder {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private let metricsText: @Sendable () -> String
    private let common = CommonFields.operators.strict
    private let requestIDs = RequestIDs()

    package init(metricsText: @escaping @Sendable () -> String) { self.metricsText = metricsText }

    package func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
        guard request.method == .get || request.method == .head else {
            var response = problem(.methodNotAllowed)
            response.headerFields.append(.allow, "GET, HEAD")
            return .ready(response)
        }
        var fields = common
        fields.append(.contentType, Self.mediaType)
        fields.append(.cacheControl, "no-store")
        return .ready(HTTPResponse(status: .ok, headerFields: fields, body: .text(metricsText())))
    }

    package func response(to rejection: HTTPRejection) -> HTTPResponse { problem(rejection.error) }

    private func problem(_ error: APIError) -> HTTPResponse {
        Problem(error, requestID: requestIDs.next(), common: common).response
    }
}
