package import Coordination
import Dialects
import HTTPTypes
import Memory
package import Telemetry
import Text
package import ThumbnailPipeline

/// The configuration and the pipeline that serve one tenant.
package struct TenantServices: Sendable {
    let configuration: APIConfiguration
    let thumbnails: any ThumbnailServing
    let resultWriter: ResultWriter
    /// The account; nil if costs are not recorded.
    let account: TenantAccount?

    package init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing,
        resultWriter: ResultWriter = ResultWriter(), account: TenantAccount? = nil
    ) {
        self.account = account
        self.configuration = configuration
        self.thumbnails = thumbnails
        self.resultWriter = resultWriter
    }
}

/// Makes the routes of each tenant at its first request.
private struct PublicRouteMaker: Sendable {
    let serving: @Sendable (_ tenant: Int) -> TenantServices
    /// Whether the page shows the configuration of its tenant.
    let pagesDiffer: Bool
    let fields: CommonFields
    let failures: FailureWriter
    let files: EmbeddedFiles
    let isLoggingAll: Bool
    let lifecycle: ServiceLifecycle
    let retirement: Retirement
    let metrics: APIMetrics
    let bodies: BodyMemory
    let events: EventLog
    let tracer: Tracer?
    let timekeeper: any Timekeeper
    /// Shared by all tenants.
    let targets = ParsedTargets()

    func routes(of tenant: Int) -> PublicRoutes {
        let services = serving(tenant)
        let configuration = services.configuration
        let costs = CostAccounting(services.account, isShown: configuration.showsCosts)
        let submission = Once { submissions(to: services, costs) }
        return PublicRoutes(
            configuration.dialects.map { dialect in
                ImageRoute(
                    dialect, isOpen: configuration.isOpen(dialect),
                    keyIDs: configuration.keyIDs[ExactText(dialect.name)] ?? [], metrics: metrics)
            },
            thumbnails: ThumbnailResponder(
                configuration, thumbnails: services.thumbnails, failures: failures,
                repeated: RepeatedResponses(
                    thumbnails: services.thumbnails, lifecycle: lifecycle, retirement: retirement,
                    isLoggingAll: isLoggingAll, tracer: tracer, timekeeper: timekeeper, costs: costs,
                    fields: ThumbnailFields(common: fields.strict, cacheTagField: configuration.cacheTagField)),
                targets: targets, tenant: tenant, costs: costs, timekeeper: timekeeper),
            submissions: { submission.value },
            files: pagesDiffer ? files.with(Once { PageConfiguration(serving(tenant).configuration) }) : files,
            health: HealthResponses(failures: failures))
    }

    private func submissions(to services: TenantServices, _ costs: CostAccounting) -> SubmissionResponder {
        SubmissionResponder(
            configuration: services.configuration, thumbnails: services.thumbnails,
            resultWriter: services.resultWriter, bodies: bodies, failures: failures, events: events, costs: costs,
            timekeeper: timekeeper)
    }
}

extension ListenerResponder {
    /// - Parameters:
    ///   - tenants: The tenants, the default first; empty in a service without tenants.
    ///   - account: The account of a service without tenants; nil if costs are not recorded.
    ///   - serving: Returns the services of a tenant; called at the tenant's first request.
    package convenience init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper, bodies: BodyMemory,
        resultWriter: ResultWriter = ResultWriter(), events: EventLog = EventLog(), slowRequests: SlowRequests? = nil,
        clientLimit: ClientLimit? = nil, tracer: Tracer? = nil, tenants: [TenantDirectory.Entry] = [],
        account: TenantAccount? = nil, serving: (@Sendable (_ tenant: Int) -> TenantServices)? = nil
    ) {
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        let failures = FailureWriter(
            common: fields.strict, revealsRules: configuration.revealsRules, lifecycle: lifecycle)
        let log = AccessLog(configuration.accessLog, logger: logger)
        let requestIDs = RequestIDs()
        let retirement = Retirement()
        let standard = TenantServices(
            configuration, thumbnails: thumbnails, resultWriter: resultWriter, account: account)
        let served = tenants.isEmpty ? nil : serving
        let maker = PublicRouteMaker(
            serving: { served?($0) ?? standard }, pagesDiffer: !tenants.isEmpty, fields: fields, failures: failures,
            files: EmbeddedFiles(
                EmbeddedFile.ofPublicListener, common: fields, page: PageConfiguration(configuration)),
            isLoggingAll: log.isLoggingAll, lifecycle: lifecycle, retirement: retirement, metrics: metrics,
            bodies: bodies, events: events, tracer: tracer, timekeeper: timekeeper)
        self.init(
            Middleware(
                checks: [
                    LoopDetection(name: configuration.loopName),
                    CrossOrigin(
                        isAllowed: configuration.allowOrigin != nil, common: fields.strict,
                        forwardsFields: configuration.forwardsFields),
                ],
                counters: [clientLimit ?? ClientLimit(configuration.maximumRequestsPerClient), metrics],
                completions: [
                    ServerTiming(), RequestCosts(isShown: configuration.showsCosts), metrics, Tracing(), log,
                    requestIDs, AllowedMethods(),
                ]
                    + (slowRequests.map { [$0] } ?? [])),
            routes: maker.routes(of: 0),
            tenants: tenants.isEmpty ? nil : TenantRoutes(tenants, make: maker.routes(of:)),
            tenant: account.map { RequestTenant(claimed: $0, host: $0) }, failures: failures,
            fallbackImages: FallbackImages(thumbnails: thumbnails),
            requestIDs: requestIDs, trustedProxies: configuration.trustedProxies, tracer: tracer,
            retirement: retirement, timekeeper: timekeeper)
    }
}
