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
        (self.configuration, self.thumbnails, self.resultWriter) = (configuration, thumbnails, resultWriter)
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
        let files = EmbeddedFiles(EmbeddedFile.ofPublicListener, common: fields, page: PageConfiguration(configuration))
        let targets = ParsedTargets()
        let standard = TenantServices(
            configuration, thumbnails: thumbnails, resultWriter: resultWriter, account: account)
        let served = tenants.isEmpty ? nil : serving
        let serving = { @Sendable (tenant: Int) in served?(tenant) ?? standard }
        let submissions = { @Sendable (tenant: Int) in
            let services = serving(tenant)
            let costs = CostAccounting(services.account, isShown: services.configuration.showsCosts)
            return SubmissionResponder(
                configuration: services.configuration, thumbnails: services.thumbnails,
                resultWriter: services.resultWriter, bodies: bodies, failures: failures, events: events, costs: costs,
                timekeeper: timekeeper)
        }
        let routes = { @Sendable (tenant: Int) in
            let services = serving(tenant)
            let (configuration, thumbnails) = (services.configuration, services.thumbnails)
            let costs = CostAccounting(services.account, isShown: configuration.showsCosts)
            let submission = Once { submissions(tenant) }
            return PublicRoutes(
                configuration.dialects.map { dialect in
                    ImageRoute(
                        dialect, isOpen: configuration.isOpen(dialect),
                        keyIDs: configuration.keyIDs[ExactText(dialect.name)] ?? [], metrics: metrics)
                },
                thumbnails: ThumbnailResponder(
                    configuration, thumbnails: thumbnails, failures: failures,
                    repeated: RepeatedResponses(
                        thumbnails: thumbnails, lifecycle: lifecycle, retirement: retirement,
                        isLoggingAll: log.isLoggingAll, tracer: tracer, timekeeper: timekeeper, costs: costs,
                        fields: ThumbnailFields(common: fields.strict, cacheTagField: configuration.cacheTagField)),
                    targets: targets, tenant: tenant, costs: costs, timekeeper: timekeeper),
                submissions: { submission.value },
                files: tenants.isEmpty
                    ? files : files.with(Once { PageConfiguration(serving(tenant).configuration) }),
                health: HealthResponses(failures: failures))
        }
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
                ] + (slowRequests.map { [$0] } ?? [])),
            routes: routes(0), tenants: tenants.isEmpty ? nil : TenantRoutes(tenants, make: routes),
            tenant: account.map { RequestTenant(claimed: $0, host: $0) }, failures: failures,
            fallbackImages: FallbackImages(thumbnails: thumbnails),
            requestIDs: requestIDs, trustedProxies: configuration.trustedProxies, tracer: tracer,
            retirement: retirement, timekeeper: timekeeper)
    }
}
