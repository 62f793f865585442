import Dialects
package import HTTPTypes

/// Answers every path with the metrics, and nothing else: for scrapers that must not reach the operators' listener.
package struct MetricsResponder: RequestResponder {
    /// The media type of Prometheus' text format.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private let metricsText: @Sendable () -> String
    private let common = CommonFields.operators.strict
    private let requestIDs = RequestIDs()

    /// Answers with what `metricsText` gives.
    package init(metricsText: @escaping @Sendable () -> String) {
        self.metricsText = metricsText
    }

    /// The metrics, whatever the path is.
    package func respond(to request: HTTPRequest) -> HTTPAnswer {
        guard request.method == .get || request.method == .head else {
            var response = problem(.methodNotAllowed)
            response.headerFields.append(.allow, "GET, HEAD")
            return .now(response)
        }
        var fields = common
        fields.append(.contentType, Self.mediaType)
        fields.append(.cacheControl, "no-store")
        return .now(HTTPResponse(status: .ok, headerFields: fields, body: .text(metricsText())))
    }

    /// The answer to a request that the server refused.
    package func refusal(_ refusal: HTTPRefusal) -> HTTPResponse { problem(refusal.error) }

    private func problem(_ error: APIError) -> HTTPResponse {
        Problem(error, requestID: requestIDs.next(), common: common).response
    }
}
