package import Coordination
import Dialects
import Downloading
package import HTTPTypes
import JSON
package import Telemetry
import Text
package import ThumbnailPipeline
import ThumbnailTypes

/// Answers requests to the admin listener: metrics, status, events, figures, caches, downloads, jobs and the page that
/// shows them.
///
/// Called on the listener's event thread; slower responses are asynchronous. Requests that change something are logged,
/// others only at the debug level.
package final class OperatorResponder: RequestResponder {
    private let service: OperatedService
    private let sites: OperatorSites
    private let reader: PrefetchReader
    private let explainer: TargetExplainer
    private let workers: WorkerPool
    private let bodies: BodyMemory
    private let logger: Logger
    private let timekeeper: any Timekeeper
    private let requestIDs = RequestIDs()
    private let common = CommonFields.operators.strict
    private let files = EmbeddedFiles(EmbeddedFile.ofOperators, common: .operators)
    private let eventResponder: EventResponder

    /// Creates a responder for `service`.
    ///
    /// - Parameters:
    ///   - service: The running service.
    ///   - sites: The names of the listener, and the sites that may write to it.
    ///   - reader: Parses the bodies of jobs.
    ///   - explainer: Explains targets of the public listener.
    ///   - workers: The threads that parse bodies, which takes too long for an event thread.
    ///   - bodies: The memory of bodies.
    ///   - logger: Logs the requests.
    ///   - timekeeper: The clock for the uptime.
    package init(
        service: OperatedService, sites: OperatorSites, reader: PrefetchReader, explainer: TargetExplainer,
        workers: WorkerPool, bodies: BodyMemory, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.service = service
        eventResponder = EventResponder(feed: service.events, control: service.control, common: common)
        self.sites = sites
        self.reader = reader
        self.explainer = explainer
        self.workers = workers
        self.bodies = bodies
        self.logger = logger
        self.timekeeper = timekeeper
    }

    /// Responds to a valid request; asynchronously if it waits for the disk or a worker thread.
    package func respond(to request: HTTPRequest) -> HTTPReply {
        let requestID = requestIDs.next()
        let route = OperatorRoute(target: request.target)
        let finish = { @Sendable [self] (result: Result<HTTPResponse, any Error>) in
            self.finish(result, request, route, requestID: requestID)
        }
        do {
            if !route.isHealth, let objection = sites.objection(to: request) {
                throw APIError(objection)
            }
            guard route != .none else { throw APIError.noSuchRoute }
            guard route.methods.contains(request.method) else { throw APIError.methodNotAllowed }
            let parameters = try OperatorParameters(
                target: request.target, allowed: route.parameters(of: request.method))
            switch route {
            case .cache where request.method == .delete:
                let (source, tag) = (try parameters.source(), try parameters.tag())
                return .later { finish(await Self.result { self.answer(json: try await self.removed(source, tag)) }) }
            case .refresh:
                let source = try parameters.requiredSource()
                return .later {
                    finish(await Self.result { self.answer(json: try await self.refreshed(source, requestID)) })
                }
            case .prefetch:
                guard request.hasBody else { throw APIError.lengthRequired }
                return .later { finish(await Self.result { try await self.begin(request) }) }
            case .prefetchJob(let id): return .later { finish(await Self.result { try await self.job(id) }) }
            default:
                return .now(finish(.success(try response(to: request, route, parameters, requestID: requestID))))
            }
        } catch {
            return .now(finish(.failure(error)))
        }
    }

    /// Accepts the body of a prefetch; the method is checked later.
    package func intake(of request: HTTPRequest) -> BodyPolicy? {
        let route = OperatorRoute(target: request.target)
        guard route.maximumBodyLength > 0 else { return nil }
        return BodyPolicy(maximumLength: route.maximumBodyLength) { [self] in
            admission(of: $0, at: route, bodyLength: $1)
        }
    }

    /// Reserves memory for a body as it arrives.
    private func admission(of request: HTTPRequest, at route: OperatorRoute, bodyLength: Int?) -> BodyAdmission {
        let requestID = requestIDs.next()
        let failure = { @Sendable [self] (error: any Error) in
            finish(.failure(error), request, route, requestID: requestID)
        }
        do {
            return .accepted(
                try ArrivingBody(
                    length: bodyLength, in: bodies.room(for: request.peer.map { IPAddress($0) }),
                    check: { (length) throws(APIError) in
                        if length > PrefetchReader.longestBody { throw .bodyTooLarge }
                    }, failure: failure,
                    answer: { [self] request, room in
                        let answer = respond(to: request)
                        guard case .later(let work) = answer else { return answer }
                        return .later {
                            defer { room.release() }
                            return await work()
                        }
                    }))
        } catch {
            return .refused(failure(error))
        }
    }

    /// Responds to a request that the server rejected; the connection closes afterwards.
    package func refusal(_ refusal: HTTPRejection) -> HTTPResponse {
        let requestID = requestIDs.next()
        var response = Problem(refusal.error, requestID: requestID, common: common).response
        response.headerFields.append(.xRequestID, requestID)
        return response
    }

    private func response(
        to request: HTTPRequest, _ route: OperatorRoute, _ parameters: OperatorParameters, requestID: String
    ) throws -> HTTPResponse {
        switch route {
        case .metrics: return answer(service.metricsText(), mediaType: MetricsResponder.mediaType)
        case .status: return answer(json: status)
        case .cache:
            return answer(
                json: .object(service.control.figures.caches.map { ($0.name, .cacheUsage($0.figures.usage)) }))
        case .downloads where request.method == .delete:
            let cancelled = try service.control.cancelDownloads(of: parameters.requiredSource())
            return answer(json: .cancelledDownloads(cancelled))
        case .downloads: return answer(json: .array(service.control.downloads.map { .download($0) }))
        case .events: return try eventResponder.response(to: request, parameters)
        case .statsHistory: return answer(json: service.history.json)
        case .file(let file):
            guard let response = files.response(to: request, for: file) else { throw APIError.noSuchRoute }
            return response
        case .download(let receipt):
            guard service.control.cancel(receipt: receipt) else { throw APIError.noSuchReceipt }
            return HTTPResponse(status: .noContent, headerFields: common)
        case .explain: return answer(json: try explanation(of: parameters))
        case .ready: return HealthAnswer.ready(service.lifecycle, requestID: requestID, common: common)
        case .live, .prefetch, .prefetchJob, .refresh, .none: return HealthAnswer.live(common: common)
        }
    }

    /// Explains `target=` for the request and source given by `accept=` and `source=`, such as `4000x3000.png`.
    private func explanation(of parameters: OperatorParameters) throws(APIError) -> JSONValue {
        guard let asked = parameters[.target] else {
            throw .missingParameter(OperatorParameter.target.rawValue)
        }
        guard !asked.isEmpty else { throw .badParameter(OperatorParameter.target.rawValue, "Must not be empty.") }
        let header = try parameters[.source].map { (text) throws(APIError) in
            guard let header = TargetExplainer.header(text) else {
                throw .badParameter(OperatorParameter.source.rawValue, TargetExplainer.headerForm)
            }
            return header
        }
        return explainer.explanation(
            of: asked, accept: parameters[.accept], for: header ?? TargetExplainer.assumed(),
            now: timekeeper.secondsSince1970
        ).json
    }

    private var status: JSONValue {
        let figures = service.control.figures
        let origins = service.control.origins
        var members: [(String, JSONValue)] = [
            ("version", .string(service.version)),
            ("instance", .string(service.instance)),
            ("uptimeSeconds", .int(Int((timekeeper.now - service.lifecycle.startedAt).components.seconds))),
            ("draining", .bool(!service.lifecycle.isReady)),
            ("activeDownloads", .int(figures.activeDownloads)),
            ("queuedDownloads", .int(figures.queuedDownloads)),
            ("activeRenders", .int(figures.activeRenders)),
            ("originCounts", .originCounts(origins)), ("origins", .worstOrigins(origins)),
        ]
        members += JSONValue.surroundings(service.control, service.calls())
        return .object(members)
    }

    private func begin(_ request: HTTPRequest) async throws -> HTTPResponse {
        let wanted = try await workers.run { [reader] _ in try reader.job(in: request) }
        let job = try await service.prefetching.begin(wanted.items, callback: wanted.callback?.canonical)
        var response = answer(json: .prefetchJob(job))
        response.status = .accepted
        response.headerFields.append(.location, "/prefetch/\(job.id)")
        return response
    }

    private func job(_ id: String) async throws -> HTTPResponse {
        guard let status = await service.prefetching.status(of: id) else { throw APIError.noSuchJob }
        return answer(json: .prefetchStatus(status, of: id))
    }

    private func removed(_ source: ExactText?, _ tag: ExactText?) async throws -> JSONValue {
        if let tag { return .removedEntries(try await service.control.remove(tag: tag)) }
        if let source { return .removedEntries(try await service.control.remove(source: source)) }
        return .removedEntries(try await service.control.removeAll())
    }

    private func refreshed(_ source: ExactText, _ requestID: String) async throws -> JSONValue {
        let refresh = try await service.control.refresh(source: source, receipt: requestID)
        if let failure = refresh.failure {
            logger.info(
                "refresh failed",
                [
                    "requestId": .string(requestID), "source": .string(SourceLabel.text(source.string)),
                    "error": .string(failure.code), "detail": .string(failure.logDetail ?? ""),
                ])
        }
        return .refresh(refresh, of: source.string)
    }

    private static func result(_ body: () async throws -> HTTPResponse) async -> Result<HTTPResponse, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    private func finish(
        _ result: Result<HTTPResponse, any Error>, _ request: HTTPRequest, _ route: OperatorRoute, requestID: String
    ) -> HTTPResponse {
        var response: HTTPResponse
        var failure: (any ServiceError)?
        switch result {
        case .success(let answer): response = answer
        case .failure(let error):
            let error: any ServiceError =
                error is CancellationError
                ? service.lifecycle.cancellation ?? .draining
                : error as? any ServiceError ?? APIError.unexpected("\(type(of: error)): \(error)")
            response = Problem(error, requestID: requestID, common: common, tellsRules: true).response
            if error.code == APIError.methodNotAllowed.code {
                response.headerFields.append(.allow, route.methods.map(\.rawValue).joined(separator: ", "))
            }
            failure = error
        }
        response.headerFields.append(.xRequestID, requestID)
        log(request, response, requestID: requestID, error: failure)
        return response
    }

    private func answer(json: JSONValue) -> HTTPResponse {
        answer(json.text, mediaType: "application/json")
    }

    private func answer(_ text: String, mediaType: String) -> HTTPResponse {
        .uncached(text, mediaType: mediaType, common: common)
    }

    private func log(
        _ request: HTTPRequest, _ response: HTTPResponse, requestID: String, error: (any ServiceError)?
    ) {
        let level: Logger.Level =
            switch error?.category {
            case .internal: .error
            case .policy: .warning
            default: request.method == .delete || request.method == .post ? .info : .debug
            }
        let path = request.target.prefix(before: UInt8(ascii: "?"))
        logger.log(
            level, "operator request",
            [
                "requestId": .string(requestID), "method": .string(request.method.rawValue),
                "path": .string(SourceLabel.text(String(path))), "status": .int(response.status.code),
                "error": .string(error?.code ?? ""), "detail": .string(error?.logDetail ?? ""),
            ])
    }
}

/// The running service as seen by the admin listener.
package struct OperatedService: Sendable {
    let version: String
    let instance: String
    let control: any ServiceControlling
    /// Runs the jobs that render thumbnails before they are requested.
    let prefetching: any Prefetching
    let lifecycle: ServiceLifecycle
    let events: EventFeed
    let history: StatsHistory
    /// The figures of hooks and callbacks; nil if none are configured.
    let calls: @Sendable () -> [Notifier.Figures]?
    let metricsText: @Sendable () -> String

    package init(
        version: String, instance: String, control: any ServiceControlling, prefetching: any Prefetching,
        lifecycle: ServiceLifecycle, events: EventFeed, history: StatsHistory,
        calls: @escaping @Sendable () -> [Notifier.Figures]? = { nil },
        metricsText: @escaping @Sendable () -> String
    ) {
        self.version = version
        self.instance = instance
        self.control = control
        self.prefetching = prefetching
        self.lifecycle = lifecycle
        self.events = events
        self.history = history
        self.calls = calls
        self.metricsText = metricsText
    }
}
