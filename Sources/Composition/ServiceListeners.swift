import Coordination
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// Makes the responders of both listeners for each version of the settings.
struct ServiceListeners: Sendable {
    let engine: Engine
    let publicListener: PublicListener
    let administered: AdministeredService
    let accounts: TenantAccounts
    let bodies: BodyMemory
    let logger: Logger
    let timekeeper: any Timekeeper

    init(
        engine: Engine, administered: AdministeredService, accounts: TenantAccounts, metrics: APIMetrics,
        slowRequests: SlowRequests, tracer: Tracer?, logger: Logger, timekeeper: any Timekeeper
    ) {
        self.engine = engine
        self.administered = administered
        self.accounts = accounts
        self.logger = logger
        self.timekeeper = timekeeper
        bodies = BodyMemory(of: engine.budget)
        publicListener = PublicListener(
            lifecycle: administered.lifecycle, metrics: metrics, bodies: bodies, events: engine.log,
            clientLimit: ClientLimit(engine.settings.api.maximumRequestsPerClient), slowRequests: slowRequests,
            tracer: tracer, logger: logger, timekeeper: timekeeper)
    }

    func publicResponder(of version: ServiceVersion) -> ListenerResponder {
        let tenants = ConfiguredTenants(version.settings, rules: version.rules) { [accounts] in
            accounts.account(of: ExactText($0.name), limits: $0.limits)
        }
        let isAccounted = tenants.accounts.isEmpty && version.settings.api.showsCosts
        let services = TenantServices(
            version.settings.api, thumbnails: version.thumbnails, resultWriter: version.resultWriter,
            account: isAccounted ? accounts.account(of: "default", limits: TenantAccount.Limits()) : nil)
        guard !tenants.entries.isEmpty else { return publicListener.responder(for: services) }
        let each = PublicListener.Tenants(tenants.entries) { [pipeline = engine.pipeline] tenant in
            let (settings, rules) = tenants.view(tenant)
            return TenantServices(
                settings.api, thumbnails: pipeline.pinned(to: rules),
                resultWriter: version.resultWriter.narrowed(to: rules), account: tenants.accounts[tenant])
        }
        return publicListener.responder(for: services, tenants: each)
    }

    func adminResponder(of version: ServiceVersion) -> ListenerResponder {
        let settings = version.settings
        return ListenerResponder(
            administering: administered, sites: settings.adminSites, token: AdminToken(settings.api.adminToken),
            reader: version.prefetchReader,
            explainer: TargetExplainer(settings, pipeline: settings.pipeline, rules: version.rules),
            workers: engine.lanes.small, bodies: bodies, logger: logger, timekeeper: timekeeper)
    }
}
