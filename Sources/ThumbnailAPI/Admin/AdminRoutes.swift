import Coordination
import Dialects
import Downloading
import HTTPTypes
import JSON
import Prefetching
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Routes of the admin listener; called on the listener's event thread, so slow responses are deferred.
struct AdminRoutes: RouteTable {
    let service: AdministeredService
    let reader: PrefetchReader
    let explainer: TargetExplainer
    /// Parse bodies, which takes too long for an event thread.
    let workers: WorkerPool
    let bodies: BodyMemory
    let failures: FailureWriter
    let timekeeper: any Timekeeper
    private let files = EmbeddedFiles(EmbeddedFile.ofAdminListener, common: .admin)

    func route(of target: String) -> Route {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/health/live": return .live
        case "/health/ready": return .ready
        default: break
        }
        if let route = AdminEndpoint.route(at: path) { return .admin(route) }
        return EmbeddedFile.file(at: path, among: EmbeddedFile.ofAdminListener).map { .file($0) } ?? .none
    }

    func maximumBodyLength(at route: Route) -> Int { route.takesBody ? PrefetchReader.longestBody : 0 }

    func body(of request: HTTPRequest, in context: RequestContext) throws -> ArrivingBody {
        guard case .admin(let route) = context.route else { throw APIError.noSuchRoute }
        let adminRequest = try adminRequest(request, at: route, in: context)
        return try ArrivingBody(length: context.bodyLength, in: bodies.lease(for: context.client)) {
            length throws(APIError) in
            if length > PrefetchReader.longestBody { throw .bodyTooLarge }
        } respond: { request, lease in
            var complete = adminRequest
            complete.http = request
            complete.bodyLease = lease
            do {
                return try complete.action.response(self)(complete)
            } catch {
                return .ready(failures.outcome(of: error, in: context))
            }
        }
    }

    func respond(to request: HTTPRequest, in context: RequestContext) throws -> PendingResponse<Outcome> {
        let route = context.route
        if case .admin(let route) = route {
            let request = try adminRequest(request, at: route, in: context)
            return try request.action.response(self)(request)
        }
        if route.isNone { throw APIError.noSuchRoute }
        guard route.methods.contains(request.method) else { throw APIError.methodNotAllowed }
        _ = try AdminParameters(target: request.target, allowed: [])
        switch route {
        case .live: return .ready(Outcome(response: HealthResponses(failures: failures).live))
        case .ready: return .ready(Outcome(response: HealthResponses(failures: failures).ready(context)))
        case .file(let file):
            guard let page = files.response(to: request, for: file) else { throw APIError.noSuchRoute }
            return .ready(Outcome(response: page))
        case .client, .admin, .none: throw APIError.noSuchRoute
        }
    }

    private func adminRequest(
        _ request: HTTPRequest, at route: AdminRoute, in context: RequestContext
    ) throws(APIError) -> AdminRequest {
        guard let action = AdminEndpoint.action(request.method, at: route) else { throw .methodNotAllowed }
        return AdminRequest(
            http: request, action: action, id: route.id,
            parameters: try AdminParameters(target: request.target, allowed: action.parameters), context: context)
    }
}

/// The responses of actions that change nothing.
extension AdminRoutes {
    func metrics(_ request: AdminRequest) -> PendingResponse<Outcome> {
        let format = MetricsFormat(accept: request.http.headerFields[.accept])
        return .ready(Outcome(response: response(service.metricsText(format), mediaType: format.mediaType)))
    }

    func status(_: AdminRequest) -> PendingResponse<Outcome> {
        let statistics = service.control.statistics
        let origins = service.control.origins
        var members: [(String, JSONValue)] = [
            ("version", .string(service.version)), ("revision", .string(service.revision)),
            ("instance", .string(service.instance)),
            ("uptimeSeconds", .int(Int((timekeeper.now - service.lifecycle.startedAt).components.seconds))),
            ("draining", .bool(!service.lifecycle.isReady)),
            ("activeDownloads", .int(statistics.activeDownloads)),
            ("queuedDownloads", .int(statistics.queuedDownloads)),
            ("activeRenders", .int(statistics.activeRenders)),
            ("originCounts", .originCounts(origins)), ("origins", .worstOrigins(origins)),
            ("waiting", .waiting(service.control.downloads, statistics: statistics)),
            ("work", .work(service.control.work)),
            ("slowRequests", service.slowRequests.json),
            ("tenants", .tenantLoads(service.tenants?.all ?? [], waitingCount: service.control.waitingCount)),
        ]
        members += JSONValue.externalState(service.control, calls: service.calls())
        members.append(("settings", service.settings()))
        return ready(.object(members))
    }

    func caches(_: AdminRequest) -> PendingResponse<Outcome> {
        ready(.object(service.control.statistics.caches.map { ($0.name, .cacheUsage($0.statistics.usage)) }))
    }

    func downloads(_: AdminRequest) -> PendingResponse<Outcome> {
        ready(.array(service.control.downloads.map { .download($0) }))
    }

    func events(_ request: AdminRequest) throws -> PendingResponse<Outcome> {
        let responder = EventResponder(feed: service.events, control: service.control, common: failures.common)
        return .ready(Outcome(response: try responder.response(to: request.http, parameters: request.parameters)))
    }

    func statsHistory(_: AdminRequest) -> PendingResponse<Outcome> { ready(service.history.json) }

    func tenants(_: AdminRequest) -> PendingResponse<Outcome> { ready(.tenants(service.tenants?.all ?? [])) }

    func jobs(_ request: AdminRequest) -> PendingResponse<Outcome> {
        deferred(request) { response(json: .prefetchJobs(await service.prefetching.jobs())) }
    }

    func job(_ request: AdminRequest) -> PendingResponse<Outcome> {
        deferred(request) {
            guard let status = await service.prefetching.status(of: request.id) else { throw APIError.noSuchJob }
            return response(json: .prefetchStatus(status, of: request.id))
        }
    }

    /// Explains a target with the parameters `accept` and `source`, such as `source=4000x3000.png`.
    func explain(_ request: AdminRequest) throws -> PendingResponse<Outcome> {
        let parameters = request.parameters
        guard let target = parameters[.target] else { throw APIError.missingParameter(AdminParameter.target.rawValue) }
        guard !target.isEmpty else { throw APIError.badParameter(AdminParameter.target.rawValue, "Must not be empty.") }
        let header = try parameters[.source].map { text in
            guard let header = TargetExplainer.header(text) else {
                throw APIError.badParameter(AdminParameter.source.rawValue, TargetExplainer.headerForm)
            }
            return header
        }
        let explanation = explainer.explanation(
            of: target, accept: parameters[.accept], for: header ?? TargetExplainer.assumed(),
            now: timekeeper.secondsSince1970)
        return ready(explanation.json)
    }

    private func deferred(
        _ request: AdminRequest, _ response: @escaping @Sendable () async throws -> HTTPResponse
    ) -> PendingResponse<Outcome> {
        .deferred {
            do {
                return Outcome(response: try await response())
            } catch {
                return failures.outcome(of: error, in: request.context)
            }
        }
    }
}

/// The responses of actions that change something, which the log names.
extension AdminRoutes {
    func purge(_ request: AdminRequest) throws -> PendingResponse<Outcome> {
        let source = try request.parameters.source()
        let tag = try request.parameters.tag()
        let subject = tag.map { ("tag", $0.string) } ?? source.map { ("url", $0.string) }
        return performing(request, on: subject) { action in
            let removed = try await remove(source: source, tag: tag)
            action.entries = removed.entries
            return response(json: .removedEntries(removed))
        }
    }

    func cancelDownloads(_ request: AdminRequest) throws -> PendingResponse<Outcome> {
        let source = try request.parameters.requiredSource()
        return performing(request, on: ("url", source.string)) { action in
            let canceled = try service.control.cancelDownloads(of: source)
            action.entries = canceled.downloads
            return response(json: .canceledDownloads(canceled))
        }
    }

    func cancelWait(_ request: AdminRequest) -> PendingResponse<Outcome> {
        cancel(request) {
            guard service.control.cancel(receipt: request.id) else { throw APIError.noSuchReceipt }
        }
    }

    func cancelJob(_ request: AdminRequest) -> PendingResponse<Outcome> {
        cancel(request) {
            guard await service.prefetching.cancel(request.id) else { throw APIError.noSuchJob }
        }
    }

    func refresh(_ request: AdminRequest) throws -> PendingResponse<Outcome> {
        let source = try request.parameters.requiredSource()
        return performing(request, on: ("url", source.string)) { action in
            let refresh = try await service.control.refresh(source: source, receipt: request.context.receipt)
            action.entries = refresh.failure == nil ? 1 : 0
            action.failure = refresh.failure
            return response(json: .refresh(refresh, of: source.string))
        }
    }

    func hold(_ request: AdminRequest) throws -> PendingResponse<Outcome> { try setHold(true, by: request) }

    func resume(_ request: AdminRequest) throws -> PendingResponse<Outcome> { try setHold(false, by: request) }

    func reload(_ request: AdminRequest) -> PendingResponse<Outcome> {
        performing(request) { action in
            do {
                let reload = try await service.reload()
                action.entries = reload.changed.count
                return response(json: reload.json)
            } catch let failure as SettingsReload.Failure {
                throw APIError.badSettings(failure.lines)
            }
        }
    }

    func beginJob(_ request: AdminRequest) -> PendingResponse<Outcome> {
        performing(request) { action in
            defer { request.bodyLease?.release() }
            let requested = try await workers.run { [reader] _ in try reader.job(in: request.http) }
            let job = try await service.prefetching.begin(requested.items, callback: requested.callback?.canonical)
            action.subject = ("id", job.id)
            action.entries = requested.items.count
            var response = response(json: .prefetchJob(job))
            response.status = .accepted
            response.headerFields.append(.location, "\(AdminPath.prefetch)/\(job.id)")
            return response
        }
    }

    private func setHold(_ isHeld: Bool, by request: AdminRequest) throws -> PendingResponse<Outcome> {
        let origin = try request.parameters.requiredOrigin()
        return performing(request, on: ("origin", origin.string)) { _ in
            guard let status = try? service.control.setHeld(isHeld, origin: origin) else {
                let form = "Must be the name of a named origin, or an absolute http or https URL."
                throw APIError.badParameter(AdminParameter.origin.rawValue, form)
            }
            return response(json: .origin(status))
        }
    }

    private func cancel(
        _ request: AdminRequest, by cancel: @escaping @Sendable () async throws -> Void
    ) -> PendingResponse<Outcome> {
        performing(request, on: ("id", request.id)) { action in
            try await cancel()
            action.entries = 1
            return HTTPResponse(status: .noContent, headerFields: failures.common)
        }
    }

    private func remove(source: ExactText?, tag: ExactText?) async throws -> RemovedEntries {
        if let tag { return try await service.control.remove(tag: tag) }
        if let source { return try await service.control.remove(source: source) }
        return try await service.control.removeAll()
    }

    /// Runs an action, which adds its results to its log line.
    private func performing(
        _ request: AdminRequest, on subject: (kind: String, value: String)? = nil,
        _ response: @escaping @Sendable (inout AuditedAction) async throws -> HTTPResponse
    ) -> PendingResponse<Outcome> {
        .deferred {
            var action = AuditedAction(request.action.name ?? "", subject: subject)
            var outcome = Outcome(response: HTTPResponse(status: .ok))
            do {
                outcome.response = try await response(&action)
            } catch {
                outcome = failures.outcome(of: error, in: request.context)
            }
            outcome.action = action
            return outcome
        }
    }
}

extension AdminRoutes {
    private func ready(_ json: JSONValue) -> PendingResponse<Outcome> {
        .ready(Outcome(response: response(json: json)))
    }

    private func response(json: JSONValue) -> HTTPResponse { response(json.text, mediaType: "application/json") }

    private func response(_ text: String, mediaType: String) -> HTTPResponse {
        .uncached(text, mediaType: mediaType, common: failures.common)
    }
}
