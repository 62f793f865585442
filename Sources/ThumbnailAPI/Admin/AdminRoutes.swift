import Coordination
import Dialects
import Downloading
import HTTPTypes
package import JSON
package import Telemetry
import Text
package import ThumbnailPipeline
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

    init(
        _ service: AdministeredService, reader: PrefetchReader, explainer: TargetExplainer, workers: WorkerPool,
        bodies: BodyMemory, failures: FailureWriter, timekeeper: any Timekeeper
    ) {
        self.service = service
        self.reader = reader
        self.explainer = explainer
        self.workers = workers
        self.bodies = bodies
        self.failures = failures
        self.timekeeper = timekeeper
    }

    func route(of target: String) -> Route {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/metrics": return .admin(.metrics)
        case "/status": return .admin(.status)
        case "/cache": return .admin(.cache)
        case "/downloads": return .admin(.downloads)
        case "/events": return .admin(.events)
        case "/stats/history": return .admin(.statsHistory)
        case "/refresh": return .admin(.refresh)
        case "/origins/hold": return .admin(.hold)
        case "/origins/resume": return .admin(.resume)
        case "/reload": return .admin(.reload)
        case "/prefetch": return .admin(.prefetch)
        case "/explain": return .admin(.explain)
        case "/tenants": return .admin(.tenants)
        case "/health/live": return .live
        case "/health/ready": return .ready
        default: break
        }
        if let receipt = Self.member(of: "/downloads/", path) { return .admin(.download(receipt: receipt)) }
        if let id = Self.member(of: "/prefetch/", path) { return .admin(.prefetchJob(id: id)) }
        return EmbeddedFile.file(at: path, among: EmbeddedFile.ofAdminListener).map { .file($0) } ?? .none
    }

    private static func member(of prefix: String, _ path: Substring) -> String? {
        guard let rest = path.suffix(after: prefix), !rest.isEmpty, !rest.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(rest)
    }

    func maximumBodyLength(at route: Route) -> Int { route.takesBody ? PrefetchReader.longestBody : 0 }

    func body(of request: HTTPRequest, _ context: RequestContext) throws -> ArrivingBody {
        _ = try parameters(of: request, context.route)
        return try ArrivingBody(length: context.bodyLength, in: bodies.lease(for: context.client)) {
            length throws(APIError) in
            if length > PrefetchReader.longestBody { throw .bodyTooLarge }
        } respond: { request, lease in
            performing(AuditedAction("job"), for: context) { action in
                defer { lease.release() }
                return try await begin(request, &action)
            }
        }
    }

    func respond(to request: HTTPRequest, _ context: RequestContext) throws -> PendingResponse<Outcome> {
        let parameters = try parameters(of: request, context.route)
        let response: HTTPResponse
        switch context.route {
        case .admin(let route): return try respond(to: request, at: route, parameters, context)
        case .live: response = HealthResponses(failures: failures).live
        case .ready: response = HealthResponses(failures: failures).ready(context)
        case .file(let file):
            guard let page = files.response(to: request, for: file) else { throw APIError.noSuchRoute }
            response = page
        case .client, .none: throw APIError.noSuchRoute
        }
        return .ready(Outcome(response: response))
    }

    private func parameters(of request: HTTPRequest, _ route: Route) throws(APIError) -> AdminParameters {
        if route.isNone { throw .noSuchRoute }
        guard route.methods.contains(request.method) else { throw .methodNotAllowed }
        return try AdminParameters(target: request.target, allowed: AdminParameters.allowed(at: route, request.method))
    }

    private func respond(
        to request: HTTPRequest, at route: AdminRoute, _ parameters: AdminParameters, _ context: RequestContext
    ) throws -> PendingResponse<Outcome> {
        switch route {
        case .cache where request.method == .delete: try purge(parameters, context)
        case .cache: ready(caches)
        case .downloads where request.method == .delete: cancelDownloads(of: try parameters.requiredSource(), context)
        case .downloads: ready(.array(service.control.downloads.map { .download($0) }))
        case .download(let receipt): cancelWait(receipt, context)
        case .refresh: refresh(try parameters.requiredSource(), context)
        case .hold: setHeld(true, origin: try parameters.requiredOrigin(), context)
        case .resume: setHeld(false, origin: try parameters.requiredOrigin(), context)
        case .reload: reload(context)
        case .prefetch: deferred(context) { response(json: .prefetchJobs(await service.prefetching.jobs())) }
        case .prefetchJob(let id) where request.method == .delete: cancelJob(id, context)
        case .prefetchJob(let id): deferred(context) { try await job(id) }
        case .metrics: .ready(Outcome(response: metrics(for: request)))
        case .events: .ready(Outcome(response: try events(for: request, parameters)))
        case .status: ready(status)
        case .statsHistory: ready(service.history.json)
        case .explain: ready(try explanation(of: parameters))
        case .tenants: ready(.tenants(service.tenants?.all ?? []))
        }
    }

    private func ready(_ json: JSONValue) -> PendingResponse<Outcome> {
        .ready(Outcome(response: response(json: json)))
    }

    private func cancelWait(_ receipt: String, _ context: RequestContext) -> PendingResponse<Outcome> {
        cancel(receipt, context) {
            guard service.control.cancel(receipt: receipt) else { throw APIError.noSuchReceipt }
        }
    }

    private func cancelJob(_ id: String, _ context: RequestContext) -> PendingResponse<Outcome> {
        cancel(id, context) {
            guard await service.prefetching.cancel(id) else { throw APIError.noSuchJob }
        }
    }

    private func cancel(
        _ id: String, _ context: RequestContext, by cancel: @escaping @Sendable () async throws -> Void
    ) -> PendingResponse<Outcome> {
        performing(AuditedAction("cancel", ("id", id)), for: context) { action in
            try await cancel()
            action.entries = 1
            return HTTPResponse(status: .noContent, headerFields: failures.common)
        }
    }

    private var caches: JSONValue {
        .object(service.control.statistics.caches.map { ($0.name, .cacheUsage($0.statistics.usage)) })
    }

    private func metrics(for request: HTTPRequest) -> HTTPResponse {
        let format = MetricsFormat(accept: request.headerFields[.accept])
        return response(service.metricsText(format), mediaType: format.mediaType)
    }

    private func events(for request: HTTPRequest, _ parameters: AdminParameters) throws -> HTTPResponse {
        try EventResponder(feed: service.events, control: service.control, common: failures.common)
            .response(to: request, parameters)
    }

    private func deferred(
        _ context: RequestContext, _ response: @escaping @Sendable () async throws -> HTTPResponse
    ) -> PendingResponse<Outcome> {
        .deferred {
            do {
                return Outcome(response: try await response())
            } catch {
                return failures.outcome(of: error, context)
            }
        }
    }

    private func purge(_ parameters: AdminParameters, _ context: RequestContext) throws -> PendingResponse<Outcome> {
        let source = try parameters.source(), tag = try parameters.tag()
        let subject = tag.map { ("tag", $0.string) } ?? source.map { ("url", $0.string) }
        return performing(AuditedAction("purge", subject), for: context) { action in
            let removed = try await remove(source, tag)
            action.entries = removed.entries
            return response(json: .removedEntries(removed))
        }
    }

    private func refresh(_ source: ExactText, _ context: RequestContext) -> PendingResponse<Outcome> {
        performing(AuditedAction("refresh", ("url", source.string)), for: context) { action in
            let refresh = try await service.control.refresh(source: source, receipt: context.receipt)
            action.entries = refresh.failure == nil ? 1 : 0
            action.failure = refresh.failure
            return response(json: .refresh(refresh, of: source.string))
        }
    }

    private func reload(_ context: RequestContext) -> PendingResponse<Outcome> {
        performing(AuditedAction("reload"), for: context) { action in
            do {
                let reload = try await service.reload()
                action.entries = reload.changed.count
                return response(json: reload.json)
            } catch let failure as SettingsReload.Failure {
                throw APIError.badSettings(failure.lines)
            }
        }
    }

    private func cancelDownloads(of source: ExactText, _ context: RequestContext) -> PendingResponse<Outcome> {
        performing(AuditedAction("cancel", ("url", source.string)), for: context) { action in
            let cancelled = try service.control.cancelDownloads(of: source)
            action.entries = cancelled.downloads
            return response(json: .cancelledDownloads(cancelled))
        }
    }

    /// Runs an action, which adds its results to its log line.
    private func performing(
        _ action: AuditedAction, for context: RequestContext,
        _ response: @escaping @Sendable (inout AuditedAction) async throws -> HTTPResponse
    ) -> PendingResponse<Outcome> {
        .deferred {
            var action = action, outcome = Outcome(response: HTTPResponse(status: .ok))
            do {
                outcome.response = try await response(&action)
            } catch {
                outcome = failures.outcome(of: error, context)
            }
            outcome.action = action
            return outcome
        }
    }

    /// Explains a request, with its parameters `accept` and `source`, such as `source=4000x3000.png`.
    private func explanation(of parameters: AdminParameters) throws(APIError) -> JSONValue {
        guard let target = parameters[.target] else { throw .missingParameter(AdminParameter.target.rawValue) }
        guard !target.isEmpty else { throw .badParameter(AdminParameter.target.rawValue, "Must not be empty.") }
        let header = try parameters[.source].map { (text) throws(APIError) in
            guard let header = TargetExplainer.header(text) else {
                throw .badParameter(AdminParameter.source.rawValue, TargetExplainer.headerForm)
            }
            return header
        }
        return explainer.explanation(
            of: target, accept: parameters[.accept], for: header ?? TargetExplainer.assumed(),
            now: timekeeper.secondsSince1970
        ).json
    }

    private var status: JSONValue {
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
            ("waiting", .waiting(service.control.downloads, statistics)), ("work", .work(service.control.work)),
            ("slowRequests", service.slowRequests.json),
            ("tenants", .tenantLoads(service.tenants?.all ?? [], waitingCount: service.control.waitingCount)),
        ]
        members += JSONValue.externalState(service.control, service.calls())
        members.append(("settings", service.settings()))
        return .object(members)
    }

    private func begin(_ request: HTTPRequest, _ action: inout AuditedAction) async throws -> HTTPResponse {
        let wanted = try await workers.run { [reader] _ in try reader.job(in: request) }
        let job = try await service.prefetching.begin(wanted.items, callback: wanted.callback?.canonical)
        action.subject = ("id", job.id)
        action.entries = wanted.items.count
        var response = response(json: .prefetchJob(job))
        response.status = .accepted
        response.headerFields.append(.location, "/prefetch/\(job.id)")
        return response
    }

    private func setHeld(_ isHeld: Bool, origin: ExactText, _ context: RequestContext) -> PendingResponse<Outcome> {
        performing(AuditedAction(isHeld ? "hold" : "resume", ("origin", origin.string)), for: context) { _ in
            guard let status = try? service.control.setHeld(isHeld, origin: origin) else {
                let form = "Must be the name of a named origin, or an absolute http or https URL."
                throw APIError.badParameter(AdminParameter.origin.rawValue, form)
            }
            return self.response(json: .origin(status))
        }
    }

    private func job(_ id: String) async throws -> HTTPResponse {
        guard let status = await service.prefetching.status(of: id) else { throw APIError.noSuchJob }
        return response(json: .prefetchStatus(status, of: id))
    }

    private func remove(_ source: ExactText?, _ tag: ExactText?) async throws -> RemovedEntries {
        if let tag { return try await service.control.remove(tag: tag) }
        if let source { return try await service.control.remove(source: source) }
        return try await service.control.removeAll()
    }

    private func response(json: JSONValue) -> HTTPResponse { response(json.text, mediaType: "application/json") }

    private func response(_ text: String, mediaType: String) -> HTTPResponse {
        .uncached(text, mediaType: mediaType, common: failures.common)
    }
}

package struct AdministeredService: Sendable {
    let version: String
    let revision: String
    let instance: String
    let control: any ServiceControlling
    let prefetching: any Prefetching
    let lifecycle: ServiceLifecycle
    let events: EventFeed
    let history: StatsHistory
    let slowRequests: SlowRequests
    let calls: @Sendable () -> [Notifier.Statistics]?
    /// Returns the effective values without secrets.
    let settings: @Sendable () -> JSONValue
    let reload: @Sendable () async throws -> SettingsReload
    let tenants: TenantAccounts?
    let metricsText: @Sendable (MetricsFormat) -> String

    package init(
        version: String, revision: String, instance: String, control: any ServiceControlling,
        prefetching: any Prefetching, lifecycle: ServiceLifecycle, events: EventFeed, history: StatsHistory,
        slowRequests: SlowRequests, calls: @escaping @Sendable () -> [Notifier.Statistics]? = { nil },
        settings: @escaping @Sendable () -> JSONValue = { .array([]) },
        reload: @escaping @Sendable () async throws -> SettingsReload = {
            SettingsReload(changed: [], needingRestart: [])
        },
        tenants: TenantAccounts? = nil, metricsText: @escaping @Sendable (MetricsFormat) -> String
    ) {
        self.version = version
        self.revision = revision
        self.instance = instance
        self.control = control
        self.prefetching = prefetching
        self.lifecycle = lifecycle
        self.slowRequests = slowRequests
        self.events = events
        self.history = history
        self.calls = calls
        self.settings = settings
        self.reload = reload
        self.tenants = tenants
        self.metricsText = metricsText
    }
}
