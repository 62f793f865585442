package import Coordination
import Dialects
import HTTPTypes
import Memory
package import Telemetry
import Text
package import ThumbnailPipeline

/// The configuration and the pipeline behind the requests of one tenant.
package struct TenantServices: Sendable {
    let configuration: APIConfiguration
    let thumbnails: any ThumbnailServing
    let resultWriter: ResultWriter
    /// Nil in a service without tenants.
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
    ///   - tenants: The default first; none in a service without tenants.
    ///   - serving: Called at a tenant's first request.
    package convenience init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing, lifecycle: ServiceLifecycle,
        logger: Logger, metrics: APIMetrics, timekeeper: any Timekeeper, bodies: BodyMemory,
        resultWriter: ResultWriter = ResultWriter(), events: EventLog = EventLog(), slowRequests: SlowRequests? = nil,
        clientLimit: ClientLimit? = nil, tracer: Tracer? = nil, tenants: [TenantPlace] = [],
        serving: (@Sendable (_ tenant: Int) -> TenantServices)? = nil
    ) {
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        let failures = FailureWriter(
            common: fields.strict, revealsRules: configuration.revealsRules, lifecycle: lifecycle)
        let log = AccessLog(configuration.accessLog, logger: logger)
        let requestIDs = RequestIDs()
        let replacement = Replacement()
        let files = EmbeddedFiles(EmbeddedFile.ofClients, common: fields, page: PageConfiguration(configuration))
        let routes = { @Sendable (services: TenantServices) in
            let (configuration, thumbnails) = (services.configuration, services.thumbnails)
            let costs = CostAccounting(services.account, areShown: configuration.showsCosts)
            return PublicRoutes(
                configuration.dialects.map { dialect in
                    ImageRoute(
                        dialect, isOpen: configuration.isOpen(dialect),
                        keyIDs: configuration.keyIDs[ExactText(dialect.name)] ?? [], metrics: metrics)
                },
                thumbnails: ThumbnailResponder(
                    configuration, thumbnails: thumbnails, failures: failures,
                    repeated: RepeatedResponses(
                        thumbnails: thumbnails, lifecycle: lifecycle, replacement: replacement,
                        isLoggingAll: log.isLoggingAll, tracer: tracer, timekeeper: timekeeper, costs: costs,
                        fields: ThumbnailFields(common: fields.strict, cacheTagField: configuration.cacheTagField)),
                    costs: costs, timekeeper: timekeeper),
                submissions: SubmissionResponder(
                    configuration: configuration, thumbnails: thumbnails, resultWriter: services.resultWriter,
                    bodies: bodies, failures: failures, events: events, costs: costs, timekeeper: timekeeper),
                files: services.account == nil ? files : files.with(PageConfiguration(configuration)),
                health: HealthResponses(failures: failures))
        }
        let standard = TenantServices(configuration, thumbnails: thumbnails, resultWriter: resultWriter)
        let serving = serving ?? { _ in standard }
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
                    ServerTiming(), RequestCosts(areShown: configuration.showsCosts), metrics, Tracing(), log,
                    requestIDs, AllowedMethods(),
                ]
                    + (slowRequests.map { [$0] } ?? [])),
            routes: routes(tenants.isEmpty ? standard : serving(0)),
            tenants: tenants.isEmpty ? nil : TenantRoutes(tenants) { routes(serving($0)) }, failures: failures,
            fallbackImages: FallbackImages(thumbnails: thumbnails),
            requestIDs: requestIDs, trustedProxies: configuration.trustedProxies, tracer: tracer,
            replacement: replacement, timekeeper: timekeeper)
    }
}
