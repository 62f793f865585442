package import Coordination
package import HTTPTypes
package import Telemetry
package import ThumbnailPipeline

/// Answers the public listener: thumbnails, health, the interface description and a page for people.
///
/// Called on all event threads; nothing here blocks.
package final class PublicResponder: RequestResponder {
    private let thumbnails: ThumbnailResponder
    private let lifecycle: ServiceLifecycle
    private let routes: PublicRoutes
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let requestIDs = RequestIDs()
    private let common: HTTPFields
    private let document: StaticFile
    private let page: StaticFile
    private let pageStyle: StaticFile
    private let pageScript: StaticFile

    /// Answers with what `thumbnails` makes, until `lifecycle` says that it is over.
    package init(
        configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper
    ) {
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        routes = PublicRoutes([configuration.nativeDialect] + configuration.otherDialects, metrics: metrics)
        recorder = ExchangeRecorder(
            isLoggingAll: configuration.accessLog, logger: logger, metrics: metrics, timekeeper: timekeeper)
        self.thumbnails = ThumbnailResponder(
            configuration: configuration, thumbnails: thumbnails, lifecycle: lifecycle, recorder: recorder,
            timekeeper: timekeeper, common: fields.strict)
        self.lifecycle = lifecycle
        self.timekeeper = timekeeper
        common = fields.strict
        document = StaticFile(PackageResources.openapi_yaml, mediaType: "application/yaml", common: fields.strict)
        page = StaticFile(PackageResources.page_html, mediaType: "text/html; charset=utf-8", common: fields.page)
        pageStyle = StaticFile(
            PackageResources.page_css, mediaType: "text/css; charset=utf-8", common: fields.strict)
        pageScript = StaticFile(
            PackageResources.page_js, mediaType: "text/javascript; charset=utf-8", common: fields.strict)
    }

    /// The answer to a valid request head.
    package func respond(to request: HTTPRequest) -> HTTPAnswer {
        let exchange = Exchange(
            requestID: requestIDs.next(), startedAt: timekeeper.now, method: request.method,
            route: routes.route(of: request.target))
        if case .none = exchange.route { return .now(problem(.noSuchRoute, exchange)) }
        guard request.method == .get || request.method == .head else {
            var response = problem(.methodNotAllowed, exchange)
            response.headerFields.append(.allow, PublicRoute.allow)
            return .now(response)
        }
        if case .images(let route) = exchange.route { return thumbnails.answer(request, exchange, at: route) }
        return .now(recorder.finish(plainAnswer(request, exchange), exchange))
    }

    /// The answer to a request that never became one; the connection closes after it.
    package func refusal(_ refusal: HTTPRefusal) -> HTTPResponse {
        let exchange = Exchange(
            requestID: requestIDs.next(), startedAt: timekeeper.now, method: nil, route: .none)
        return problem(refusal.error, exchange)
    }

    private func plainAnswer(_ request: HTTPRequest, _ exchange: Exchange) -> HTTPResponse {
        switch exchange.route {
        case .ready: HealthAnswer.ready(lifecycle, requestID: exchange.requestID, common: common)
        case .document: document.response(to: request)
        case .page: page.response(to: request)
        case .pageStyle: pageStyle.response(to: request)
        case .pageScript: pageScript.response(to: request)
        case .live, .images, .none: HealthAnswer.live(common: common)
        }
    }

    private func problem(_ error: APIError, _ exchange: Exchange) -> HTTPResponse {
        let response = exchange.route.response(
            to: Problem(error, requestID: exchange.requestID, common: common))
        return recorder.finish(response, exchange, error: error)
    }
}
