package import Coordination
import Dialects
package import HTTPTypes
import Memory
package import Telemetry
package import ThumbnailPipeline

/// Answers requests to the public listener: images, health checks, the interface description and the page.
///
/// Called on all event threads; no method blocks.
package final class PublicResponder: RequestResponder {
    private let thumbnails: ThumbnailResponder
    private let submissions: SubmissionResponder
    private let lifecycle: ServiceLifecycle
    private let routes: PublicRoutes
    private let recorder: ExchangeRecorder
    private let timekeeper: any Timekeeper
    private let requestIDs = RequestIDs()
    private let common: HTTPFields
    private let preflight: PreflightAnswer?
    private let files: EmbeddedFiles
    private let tracer: Tracer?
    private let active: LevelFamily
    private let trustedProxies: TrustedProxies
    private let places: ClientPlaces
    private let loops: RequestLoops

    package init(
        configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper, budget: MemoryBudget = MemoryBudget(),
        bodies: BodyMemory? = nil, placer: ResultWriter = ResultWriter(), tracer: Tracer? = nil
    ) {
        self.tracer = tracer
        active = metrics.active
        trustedProxies = configuration.trustedProxies
        loops = RequestLoops(name: configuration.loopName)
        places = ClientPlaces(limit: configuration.maximumRequestsPerClient)
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        routes = PublicRoutes(
            configuration.dialects.map { ImageRoute($0, isOpen: configuration.isOpen($0), metrics: metrics) })
        recorder = ExchangeRecorder(
            isLoggingAll: configuration.accessLog, logger: logger, metrics: metrics, tracer: tracer,
            timekeeper: timekeeper)
        self.thumbnails = ThumbnailResponder(
            configuration: configuration, thumbnails: thumbnails, lifecycle: lifecycle, recorder: recorder,
            timekeeper: timekeeper, common: fields.strict)
        submissions = SubmissionResponder(
            configuration, thumbnails, placer: placer, bodies: bodies ?? BodyMemory(of: budget),
            lifecycle: lifecycle,
            recorder: recorder, timekeeper: timekeeper, common: fields.strict)
        self.lifecycle = lifecycle
        self.timekeeper = timekeeper
        common = fields.strict
        preflight = configuration.allowOrigin.map { _ in PreflightAnswer(common: fields.strict) }
        files = EmbeddedFiles(EmbeddedFile.ofClients, common: fields, page: PageConfiguration(configuration))
    }

    /// Responds to a request with a valid header.
    package func respond(to request: HTTPRequest) -> HTTPReply {
        let exchange = exchange(for: request, at: routes.route(of: request.target))
        return begun(answer(request, exchange), exchange)
    }

    /// Counts a response that may not be ready as a pending request of its client until it is.
    private func begun(_ answer: HTTPReply, _ exchange: Exchange) -> HTTPReply {
        switch answer {
        case .now, .again: return answer
        case .later, .soon: break
        }
        guard exchange.isProxied, let client = exchange.client else { return counted(answer, exchange) {} }
        guard places.take(for: client) else { return .now(problem(.tooManyOfClient, exchange)) }
        return counted(answer, exchange) { [places] in places.release(client) }
    }

    /// Counts a response as in progress until `end`.
    private func counted(
        _ answer: HTTPReply, _ exchange: Exchange, end: @escaping @Sendable () -> Void
    ) -> HTTPReply {
        let active = active.level(exchange.method?.conventionalName ?? "_OTHER", "http")
        active.change(by: 1)
        return computed(answer, exchange) {
            active.change(by: -1)
            end()
        }
    }

    private func answer(_ request: HTTPRequest, _ exchange: Exchange) -> HTTPReply {
        if case .none = exchange.route { return .now(problem(.noSuchRoute, exchange)) }
        if exchange.route.makesImages, loops.include(request) { return .now(problem(.requestLoop, exchange)) }
        if request.method == .post, exchange.route.takesBody { return submitted(request, exchange) }
        if request.method == .options, let preflight {
            return .now(recorder.finish(preflight.response(allowing: exchange.route.allow), exchange))
        }
        let mayBePosted = if case .probe = exchange.route { request.method == .post } else { false }
        guard exchange.route.isRead, request.method == .get || request.method == .head || mayBePosted else {
            return .now(methodNotAllowed(exchange))
        }
        if case .images(let route) = exchange.route { return thumbnails.answer(request, exchange, at: route) }
        if case .probe(let route) = exchange.route {
            do throws(APIError) { try route.dialect.judgeProbe(RequestedTarget(request)) } catch {
                return .now(problem(error, exchange))
            }
        }
        return .now(recorder.finish(plainAnswer(request, exchange), exchange))
    }

    /// Accepts bodies of any length where images are uploaded, and without a route: their admission checks these
    /// requests.
    package func intake(of request: HTTPRequest) -> BodyPolicy? {
        let route = routes.route(of: request.target)
        if case .none = route {} else if !route.takesBody { return nil }
        return BodyPolicy(maximumLength: .max) { [self] in admission(of: $0, at: route, bodyLength: $1) }
    }

    /// Checks a request with a body by its header; its time begins here.
    private func admission(of request: HTTPRequest, at route: PublicRoute, bodyLength: Int?) -> BodyAdmission {
        let exchange = exchange(for: request, at: route)
        do {
            if case .none = exchange.route { throw APIError.noSuchRoute }
            if exchange.route.makesImages, loops.include(request) { throw APIError.requestLoop }
            guard request.method == .post else { return .refused(methodNotAllowed(exchange)) }
            return .accepted(
                try submissions.admission(of: request, length: bodyLength, exchange) { [self] in
                    begun($0, exchange)
                })
        } catch {
            return .refused(submissions.failure(error, exchange))
        }
    }

    /// Responds to a request that requires a body but has none, or an empty one.
    private func submitted(_ request: HTTPRequest, _ exchange: Exchange) -> HTTPReply {
        do {
            let hold = try submissions.admission(of: request, length: request.body?.count ?? 0, exchange) { $0 }
            guard request.hasBody else { throw APIError.lengthRequired }
            return hold.respond(to: request)
        } catch {
            return .now(submissions.failure(error, exchange))
        }
    }

    private func exchange(for request: HTTPRequest, at route: PublicRoute) -> Exchange {
        let (client, isProxied) = trustedProxies.sender(of: request)
        let parent = isProxied ? request.headerFields[.traceparent].flatMap { TraceContext(traceparent: $0) } : nil
        return Exchange(
            requestID: requestIDs.next(), startedAt: timekeeper.now, method: request.method,
            route: route, client: client, isProxied: isProxied,
            trace: tracer?.begin(continuing: parent))
    }

    /// Wraps a response that may not be ready; its tasks run within the request's trace, and `end` is called once at
    /// its end.
    private func computed(
        _ answer: HTTPReply, _ exchange: Exchange, end: @escaping @Sendable () -> Void
    ) -> HTTPReply {
        switch answer {
        case .now, .again:
            end()
            return answer
        case .later(let work):
            let traced = traced(work, exchange)
            return .later {
                defer { end() }
                return await traced()
            }
        case .soon(let wait):
            return .soon(
                ShortWait(begin: wait.begin) { [self] in
                    computed(wait.answer(), exchange, end: end)
                } abandoned: {
                    wait.abandoned()
                    end()
                })
        }
    }

    private func traced(
        _ work: @escaping @Sendable () async -> HTTPResponse, _ exchange: Exchange
    ) -> @Sendable () async -> HTTPResponse {
        guard let trace = exchange.trace else { return work }
        return { await RequestTrace.$current.withValue(trace) { await work() } }
    }

    private func methodNotAllowed(_ exchange: Exchange) -> HTTPResponse {
        var response = problem(.methodNotAllowed, exchange)
        response.headerFields.append(.allow, exchange.route.allow)
        return response
    }

    /// Responds to a request that the server rejected; the connection closes afterwards.
    package func refusal(_ refusal: HTTPRejection) -> HTTPResponse {
        let exchange = Exchange(
            requestID: requestIDs.next(), startedAt: timekeeper.now, method: nil, route: .none)
        return problem(refusal.error, exchange)
    }

    private func plainAnswer(_ request: HTTPRequest, _ exchange: Exchange) -> HTTPResponse {
        switch exchange.route {
        case .ready, .probe: return HealthAnswer.ready(lifecycle, requestID: exchange.requestID, common: common)
        case .file(let file):
            return files.response(to: request, for: file) ?? HealthAnswer.live(common: common)
        default: return HealthAnswer.live(common: common)
        }
    }

    private func problem(_ error: APIError, _ exchange: Exchange) -> HTTPResponse {
        let response = exchange.route.response(
            to: Problem(error, requestID: exchange.requestID, common: common))
        return recorder.finish(response, exchange, error: error)
    }
}
