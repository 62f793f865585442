import Coordination
import DiskCaching
import Downloading
import HTTPServing
import HTTPTypes
import ImageSandbox
import Prefetching
import Program
import Settings
import SharedCaching
import Telemetry
import ThumbnailAPI
import ThumbnailPipeline
import Webhooks

struct Service: Sendable {
    let engine: Engine
    let prefetcher: Prefetcher
    let notifier: Notifier
    let lifecycle: ServiceLifecycle
    let events: EventFeed
    let sampling: Task<Void, Never>
    private let reloads: SettingsReloads
    let exporters: Exporters
    let publicServer: HTTPServer
    let adminServer: HTTPServer
    /// The server for metrics; nil if they have no separate listener.
    let metricsServer: HTTPServer?

    var budget: MemoryBudget { engine.budget }
    var downloader: ImageDownloader { engine.downloader }
    var lanes: WorkLanes { engine.lanes }
    var sandbox: SandboxedCodec? { engine.sandbox }
    var disk: DiskStore? { engine.disk }
    var sharedCache: SharedStore? { engine.sharedCache }

    init(
        _ settings: Settings, logger: Logger, reloads: SettingsReloads = SettingsReloads(),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws {
        self.reloads = reloads
        let start = timekeeper.nanosecondsSince1970
        engine = try Engine(settings, logger: logger, timekeeper: timekeeper)
        let settings = engine.settings
        let registry = engine.registry
        let metricsText = { @Sendable (format: MetricsFormat) in registry.text(as: format) }
        let apiMetrics = APIMetrics(registry: registry)
        let accounts = TenantAccounts(registry: registry, timekeeper: timekeeper)
        PipelineGauges(of: engine.pipeline).register(in: registry)
        ProcessMetrics.register(in: registry)
        let version = Locked(ServiceVersion(settings, engine: engine))
        let current = { @Sendable in version.withLock { $0 } }
        notifier = Notifier(engine, settings: { current().settings }, logger: logger, timekeeper: timekeeper)
        prefetcher = Self.prefetcher(
            engine, notifier: notifier, version: current, logger: logger, timekeeper: timekeeper)
        lifecycle = ServiceLifecycle(startedAt: timekeeper.now)
        let tracer = settings.tracer(registry: registry, timekeeper: timekeeper)
        exporters = Exporters(settings, tracer: tracer, registry: registry, since: start, timekeeper: timekeeper)
        let slowRequests = SlowRequests(timekeeper: timekeeper)
        let control = PipelineControl(of: engine.pipeline, notifying: notifier, for: accounts)
        let calls = { @Sendable [notifier] in current().settings.notifying.isUsed ? notifier.statistics : nil }
        let stats = ServiceStats(
            control: control, metrics: apiMetrics, lifecycle: lifecycle, timekeeper: timekeeper, calls: calls)
        events = EventFeed(of: engine.log, timekeeper: timekeeper) { stats.json }
        let history = StatsHistory(timekeeper: timekeeper) { stats.sample }
        sampling = Task { await history.run() }
        let administered = AdministeredService(
            version: settings.api.version, revision: Program.revision, instance: settings.sharedCache.instance,
            control: control, prefetching: prefetcher, lifecycle: lifecycle, events: events, history: history,
            slowRequests: slowRequests, calls: calls, settings: { EffectiveSetting.json(current().settings.effective) },
            reload: reloads.reload, tenants: accounts, metricsText: metricsText)
        let listeners = ServiceListeners(
            engine: engine, administered: administered, accounts: accounts, metrics: apiMetrics,
            slowRequests: slowRequests, tracer: tracer, logger: logger, timekeeper: timekeeper)
        let responders = ServiceResponders(listeners, version: version)
        adminServer = try HTTPServer(settings.listeners.admin, responder: responders.admin, logger: logger)
        metricsServer = try settings.metricsListener.map {
            try HTTPServer($0, responder: MetricsResponder(metricsText: metricsText), logger: logger)
        }
        publicServer = try HTTPServer(settings.listeners.public, responder: responders.public, logger: logger)
        reloads.begin(settings, registry: registry, logger: logger) { [engine, notifier, events] in
            Self.use($0, in: engine, notifier: notifier, events: events, responders: responders)
        }
    }

    /// Returns the settings in use.
    private static func use(
        _ settings: Settings, in engine: Engine, notifier: Notifier, events: EventFeed, responders: ServiceResponders
    ) -> Settings {
        let settings = engine.use(settings)
        notifier.setHooks(settings.notifying.hooks)
        let earlier = responders.use(ServiceVersion(settings, engine: engine))
        if earlier.settings.api.adminToken?.text != settings.api.adminToken?.text { events.closeReaders() }
        return settings
    }

    private static func prefetcher(
        _ engine: Engine, notifier: Notifier, version: @escaping @Sendable () -> ServiceVersion, logger: Logger,
        timekeeper: any Timekeeper
    ) -> Prefetcher {
        let prefetcher = Prefetcher(
            configuration: engine.settings.prefetch,
            resolving: { item in
                let version = version()
                return version.prefetchReader.work(of: item).map { ($0, version.thumbnails) }
            },
            isBusy: { engine.downloader.queuedRequestCount > 0 || engine.lanes.waitingCount > 0 },
            store: engine.disk, budget: engine.budget,
            reporting: JobReporter(engine.log, notifier: notifier) { version().settings.api.signingKeys }.report,
            logger: logger, timekeeper: timekeeper)
        prefetcher.resume()
        return prefetcher
    }

    /// Fails readiness; after the delay, stops accepting, finishes pending requests, and cancels the remaining ones.
    func shutDown(_ settings: Settings) async {
        let timekeeper = SystemTimekeeper()
        reloads.end()
        lifecycle.failReadiness()
        try? await timekeeper.sleep(until: timekeeper.now + settings.drainDelay)
        publicServer.stopAccepting()
        // By now, all requests sent before accepting stopped have been read, and are served normally.
        let rejecting = Task { [lifecycle] in
            try await timekeeper.sleep(until: timekeeper.now + .seconds(1))
            lifecycle.beginDraining()
        }
        _ = await publicServer.shutDown(timeLimit: settings.shutdownTimeout, willAbort: lifecycle.beginCutting)
        rejecting.cancel()
        lifecycle.beginDraining()
        await exporters.shutDown()
        prefetcher.shutDown()
        await notifier.shutDown(timeLimit: .seconds(2))
        await engine.stopWork()
        events.shutDown()
        sampling.cancel()
        _ = await metricsServer?.shutDown(timeLimit: .milliseconds(200), willAbort: lifecycle.beginCutting)
        _ = await adminServer.shutDown(timeLimit: .milliseconds(200), willAbort: lifecycle.beginCutting)
        await engine.end()
    }
}
