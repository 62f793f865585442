package import Coordination
import Dialects
import HTTPTypes
package import Telemetry
import Text
import ThumbnailPipeline

/// The parts of the public listener that a reload of the settings keeps.
package struct PublicListener: Sendable {
    /// The tenants of a service that has any, the default first.
    package struct Tenants: Sendable {
        let entries: [TenantDirectory.Entry]
        /// Returns the services of a tenant; called at the tenant's first request.
        let services: @Sendable (_ tenant: Int) -> TenantServices

        package init(
            _ entries: [TenantDirectory.Entry], services: @escaping @Sendable (_ tenant: Int) -> TenantServices
        ) {
            self.entries = entries
            self.services = services
        }
    }

    let lifecycle: ServiceLifecycle
    let metrics: APIMetrics
    let bodies: BodyMemory
    let events: EventLog
    let clientLimit: ClientLimit
    let slowRequests: SlowRequests
    let tracer: Tracer?
    let logger: Logger
    let timekeeper: any Timekeeper

    package init(
        lifecycle: ServiceLifecycle, metrics: APIMetrics, bodies: BodyMemory, events: EventLog,
        clientLimit: ClientLimit, slowRequests: SlowRequests, tracer: Tracer?, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        self.lifecycle = lifecycle
        self.metrics = metrics
        self.bodies = bodies
        self.events = events
        self.clientLimit = clientLimit
        self.slowRequests = slowRequests
        self.tracer = tracer
        self.logger = logger
        self.timekeeper = timekeeper
    }

    /// Makes the responder for one version of the settings.
    ///
    /// - Parameters:
    ///   - services: The services of the default tenant.
    ///   - tenants: The tenants; nil in a service without tenants.
    package func responder(for services: TenantServices, tenants: Tenants? = nil) -> ListenerResponder {
        let configuration = services.configuration
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        let failures = FailureWriter(
            common: fields.strict, revealsRules: configuration.revealsRules, lifecycle: lifecycle)
        let log = AccessLog(configuration.accessLog, logger: logger)
        let requestIDs = RequestIDs()
        let retirement = Retirement()
        let files = EmbeddedFiles(
            EmbeddedFile.ofPublicListener, common: fields, page: PageConfiguration(configuration))
        let onlyServices = { @Sendable (_: Int) in services }
        let maker = PublicRouteMaker(
            listener: self, services: tenants?.services ?? onlyServices, hasTenants: tenants != nil,
            fields: fields, failures: failures,
            files: files,
            isLoggingAll: log.isLoggingAll, retirement: retirement)
        return ListenerResponder(
            Middleware(
                checks: [
                    LoopDetection(name: configuration.loopName),
                    CrossOrigin(
                        isAllowed: configuration.allowOrigin != nil, common: fields.strict,
                        forwardsFields: configuration.forwardsFields),
                ],
                counters: [clientLimit, metrics],
                completions: [
                    ServerTiming(), RequestCosts(isShown: configuration.showsCosts), metrics, Tracing(), log,
                    requestIDs, AllowedMethods(), slowRequests,
                ]),
            routes: maker.routes(of: 0), tenants: tenants.map { TenantRoutes($0.entries, make: maker.routes(of:)) },
            tenant: tenants == nil ? services.account.map { RequestTenant(claimed: $0, host: $0) } : nil,
            failures: failures, fallbackImages: FallbackImages(thumbnails: services.thumbnails),
            requestIDs: requestIDs, trustedProxies: configuration.trustedProxies, tracer: tracer,
            retirement: retirement, timekeeper: timekeeper)
    }
}

/// Makes the routes of each tenant at its first request.
private struct PublicRouteMaker: Sendable {
    let listener: PublicListener
    let services: @Sendable (_ tenant: Int) -> TenantServices
    /// Whether each tenant has a page with its own configuration.
    let hasTenants: Bool
    let fields: CommonFields
    let failures: FailureWriter
    let files: EmbeddedFiles
    let isLoggingAll: Bool
    let retirement: Retirement
    /// Shared by all tenants.
    let targets = ParsedTargets()

    func routes(of tenant: Int) -> PublicRoutes {
        let services = services(tenant)
        let configuration = services.configuration
        let costs = CostAccounting(services.account, isShown: configuration.showsCosts)
        let submissions = Once { submissionResponder(for: services, costs: costs) }
        let images = configuration.dialects.map { dialect in
            ImageRoute(
                dialect, isOpen: configuration.isOpen(dialect),
                keyIDs: configuration.keyIDs[ExactText(dialect.name)] ?? [], metrics: listener.metrics)
        }
        let repeated = RepeatedResponses(
            thumbnails: services.thumbnails, lifecycle: listener.lifecycle, retirement: retirement,
            isLoggingAll: isLoggingAll, tracer: listener.tracer, timekeeper: listener.timekeeper, costs: costs,
            fields: ThumbnailFields(common: fields.strict, cacheTagField: configuration.cacheTagField))
        return PublicRoutes(
            images,
            thumbnails: ThumbnailResponder(
                configuration, thumbnails: services.thumbnails, failures: failures, repeated: repeated,
                targets: targets, tenant: tenant, costs: costs, timekeeper: listener.timekeeper),
            submissions: { submissions.value },
            files: hasTenants ? files.with(Once { PageConfiguration(self.services(tenant).configuration) }) : files,
            health: HealthResponses(failures: failures))
    }

    private func submissionResponder(for services: TenantServices, costs: CostAccounting) -> SubmissionResponder {
        SubmissionResponder(
            configuration: services.configuration, thumbnails: services.thumbnails,
            resultWriter: services.resultWriter, bodies: listener.bodies, failures: failures, events: listener.events,
            costs: costs, timekeeper: listener.timekeeper)
    }
}
