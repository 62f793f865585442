import Dialects
package import HTTPTypes
package import Telemetry

/// Serves only metrics, on every path, to scrapers that must not reach the admin listener.
package struct MetricsResponder: RequestResponder {
    private let metricsText: @Sendable (MetricsFormat) -> String
    private let common = CommonFields.admin.strict
    private let requestIDs = RequestIDs()

    package init(metricsText: @escaping @Sendable (MetricsFormat) -> String) { self.metricsText = metricsText }

    package func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
        guard request.method == .get || request.method == .head else {
            var response = problem(.methodNotAllowed)
            response.headerFields.append(.allow, "GET, HEAD")
            return .ready(response)
        }
        let format = MetricsFormat(accept: request.headerFields[.accept])
        var fields = common
        fields.append(.contentType, format.mediaType)
        fields.append(.cacheControl, "no-store")
        return .ready(HTTPResponse(status: .ok, headerFields: fields, body: .text(metricsText(format))))
    }

    package func response(to rejection: HTTPRejection) -> HTTPResponse { problem(rejection.error) }

    private func problem(_ error: APIError) -> HTTPResponse {
        Problem(error, requestID: requestIDs.next(), common: common).response
    }
}

extension MetricsFormat {
    /// Chooses OpenMetrics unless the scraper prefers the older format.
    init(accept: String?) {
        func weight(_ type: String) -> Int {
            HTTPSyntax.list(accept ?? "").filter { MediaType($0)?.description == type }
                .compactMap { AcceptedFormats.weight(of: $0) }.max() ?? 0
        }
        let openMetrics = weight("application/openmetrics-text")
        self = openMetrics > 0 && openMetrics >= weight("text/plain") ? .openMetrics : .prometheus
    }
}
