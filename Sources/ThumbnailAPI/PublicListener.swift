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
    /// - Parameter services: The services of the default tenant.
    package func responder(for services: TenantServices, tenants: Tenants? = nil) -> ListenerResponder {
        let configuration = services.configuration
        let fields = CommonFields(allowOrigin: configuration.allowOrigin)
        let failures = FailureWriter(
            common: fields.strict, revealsRules: configuration.revealsRules, lifecycle: lifecycle)
        let log = AccessLog(choice: configuration.accessLog, logger: logger)
        let tracing = Tracing(tracer: tracer)
        let retirement = Retirement()
        let files = EmbeddedFiles(EmbeddedFile.ofPublicListener, common: fields, page: PageConfiguration(configuration))
        let onlyServices = { @Sendable (_: Int) in services }
        let maker = PublicRouteMaker(
            listener: self, services: tenants?.services ?? onlyServices, hasTenants: tenants != nil, fields: fields,
            failures: failures, files: files, isLoggingAll: log.isLoggingAll, tracing: tracing, retirement: retirement)
        let routes = maker.routes(of: 0)
        let account = services.account.map { RequestTenant(claimed: $0, host: $0) }
        return ListenerResponder(
            Middleware([
                configuration.trustedProxies,
                AllowedMethods(),
                RequestIDs(),
                log,
                slowRequests,
                tracing,
                clientLimit,
                metrics,
                RequestCosts(isShown: configuration.showsCosts),
                ServerTiming(),
                LoopDetection(name: configuration.loopName),
                CrossOrigin(
                    isAllowed: configuration.allowOrigin != nil, common: fields.strict,
                    forwardsFields: configuration.forwardsFields),
            ]),
            routes: tenants.map {
                .byTenant(TenantRoutes($0.entries) { $0 == 0 ? routes : maker.routes(of: $0) })
            } ?? .single(routes, account: account),
            failures: failures, fallbackImages: FallbackImages(thumbnails: services.thumbnails),
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
    let tracing: Tracing
    let retirement: Retirement
    /// Shared by all tenants.
    let targets = ParsedTargets()

    func routes(of tenant: Int) -> PublicRoutes {
        let services = services(tenant)
        let configuration = services.configuration
        let costs = CostAccounting(account: services.account, isShown: configuration.showsCosts)
        let responseFields = ResponseFields(common: fields.strict, cacheTagField: configuration.cacheTagField)
        let submissions = Once { submissionResponder(for: services, fields: responseFields, costs: costs) }
        let images = configuration.dialects.map { dialect in
            ImageRoute(
                dialect, isOpen: configuration.isOpen(dialect),
                keyIDs: configuration.keyIDs[ExactText(dialect.name)] ?? [], metrics: listener.metrics)
        }
        let repeated = RepeatedResponses(
            thumbnails: services.thumbnails, lifecycle: listener.lifecycle, retirement: retirement,
            isLoggingAll: isLoggingAll, tracing: tracing, costs: costs, fields: responseFields,
            timekeeper: listener.timekeeper)
        return PublicRoutes(
            images,
            thumbnails: ThumbnailResponder(
                configuration, thumbnails: services.thumbnails, failures: failures, repeated: repeated,
                targets: targets, tenant: tenant, costs: costs, timekeeper: listener.timekeeper),
            submissions: { submissions.value },
            files: hasTenants ? files.with(Once { PageConfiguration(self.services(tenant).configuration) }) : files,
            health: HealthResponses(failures: failures))
    }

    private func submissionResponder(
        for services: TenantServices, fields: ResponseFields, costs: CostAccounting
    ) -> SubmissionResponder {
        SubmissionResponder(
            configuration: services.configuration, thumbnails: services.thumbnails,
            resultWriter: services.resultWriter, bodies: listener.bodies, failures: failures, fields: fields,
            events: listener.events, costs: costs, timekeeper: listener.timekeeper)
    }
}
