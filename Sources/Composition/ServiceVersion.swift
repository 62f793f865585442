import Coordination
import Downloading
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// All values that requests use from the settings; a reload replaces it entirely; requests keep theirs.
struct ServiceVersion: Sendable {
    let settings: Settings
    let rules: DownloadRules
    let thumbnails: ImagePipeline
    let resultWriter: ResultWriter
    let prefetchReader: PrefetchReader

    /// Creates a version; call ``Engine/use(_:)`` first.
    init(_ settings: Settings, _ engine: Engine) {
        self.settings = settings
        rules = engine.downloader.rules
        thumbnails = engine.pipeline.pinned(to: rules)
        resultWriter = engine.resultWriter
        prefetchReader = PrefetchReader(
            settings.api.nativeDialect, placing: resultWriter,
            callbacks: { [rules] in settings.notifying.violation(toCallback: $0, by: rules) })
    }
}

/// Builds the responders of both listeners for each version of the settings.
struct ServiceListeners: Sendable {
    let engine: Engine
    let administered: AdministeredService
    let lifecycle: ServiceLifecycle
    let metrics: APIMetrics
    let slowRequests: SlowRequests
    let tracer: Tracer?
    let accounts: TenantAccounts
    let logger: Logger
    let timekeeper: any Timekeeper
    private let bodies: BodyMemory
    private let clientLimit: ClientLimit

    init(
        engine: Engine, administered: AdministeredService, lifecycle: ServiceLifecycle, metrics: APIMetrics,
        slowRequests: SlowRequests, tracer: Tracer?, accounts: TenantAccounts, logger: Logger,
        timekeeper: any Timekeeper
    ) {
        self.accounts = accounts
        self.engine = engine
        self.administered = administered
        self.lifecycle = lifecycle
        self.metrics = metrics
        self.slowRequests = slowRequests
        self.tracer = tracer
        self.logger = logger
        self.timekeeper = timekeeper
        bodies = BodyMemory(of: engine.budget)
        clientLimit = ClientLimit(engine.settings.api.maximumRequestsPerClient)
    }

    func publicResponder(of version: ServiceVersion) -> ListenerResponder {
        let tenants = ConfiguredTenants(version.settings, version.rules) { [accounts] in
            accounts.account(of: ExactText($0.name), $0.limits)
        }
        let isAccounted = tenants.accounts.isEmpty && version.settings.api.showsCosts
        return ListenerResponder(
            version.settings.api, thumbnails: version.thumbnails, lifecycle: lifecycle,
            logger: logger, metrics: metrics, timekeeper: timekeeper, bodies: bodies,
            resultWriter: version.resultWriter, events: engine.log, slowRequests: slowRequests,
            clientLimit: clientLimit, tracer: tracer, tenants: tenants.entries,
            account: isAccounted ? accounts.account(of: "default", TenantAccount.Limits()) : nil
        ) { [pipeline = engine.pipeline, resultWriter = version.resultWriter] tenant in
            let (settings, rules) = tenants.view(tenant)
            return TenantServices(
                settings.api, thumbnails: pipeline.pinned(to: rules), resultWriter: resultWriter.narrowed(to: rules),
                account: tenants.accounts[tenant])
        }
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

/// The responders of both listeners, which a reload replaces.
struct ServiceResponders: Sendable {
    let `public`: ReloadableResponder
    let admin: ReloadableResponder
    private let listeners: ServiceListeners
    private let version: Locked<ServiceVersion>

    init(_ listeners: ServiceListeners, _ version: Locked<ServiceVersion>) {
        self.listeners = listeners
        self.version = version
        let first = version.withLock { $0 }
        `public` = ReloadableResponder(listeners.publicResponder(of: first))
        admin = ReloadableResponder(listeners.adminResponder(of: first))
    }

    /// Returns the earlier version.
    func use(_ new: ServiceVersion) -> ServiceVersion {
        let earlier = version.withLock { version in
            defer { version = new }
            return version
        }
        `public`.use(listeners.publicResponder(of: new))
        admin.use(listeners.adminResponder(of: new))
        return earlier
    }
}
