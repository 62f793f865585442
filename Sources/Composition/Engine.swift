package import Coordination
import DiskCaching
import Downloading
package import ImageSandbox
import Imaging
import Memory
import Program
import Recipes
package import Settings
import SharedCaching
package import Telemetry
import ThumbnailAPI
package import ThumbnailPipeline

package struct Engine: Sendable {
    /// The settings with the formats that can be decoded, and with caches that fit into memory.
    package let settings: Settings
    let registry: MetricsRegistry
    let log: EventLog
    package let budget: MemoryBudget
    let downloader: ImageDownloader
    let loader: CurlLoader
    let folders: FolderLoader
    let lanes: WorkLanes
    package let sandbox: SandboxedCodec?
    package let pipeline: ImagePipeline
    /// The disk cache; nil if nothing is written to disk.
    let disk: DiskStore?
    /// The shared cache; nil if none is configured.
    let sharedCache: SharedStore?
    private let originMetrics: OriginMetrics
    private let writableOrigins: Locked<WritableOrigins>
    let resultStore: SharedStore?
    private let timekeeper: any Timekeeper
    private let memoryWatch: Task<Void, Never>

    package init(_ settings: Settings, logger: Logger, timekeeper: any Timekeeper = SystemTimekeeper()) throws {
        registry = MetricsRegistry()
        self.timekeeper = timekeeper
        let log = EventLog()
        self.log = log
        try settings.downloads.origins.checkFiles(exceptOf: settings.resultStore.origin)
        sandbox = try Sandbox.start(settings, registry: registry, logger: logger, timekeeper: timekeeper)
        let faceDetector = try Faces.detector(settings, logger: logger)
        var settings = Self.adapted(settings, to: sandbox, findsFaces: faceDetector != nil)
        if settings.sandbox.decodedFormats == nil || sandbox == nil { try ImageLibrary.start() }
        disk = try Self.diskStore(settings.disk, logger: logger, timekeeper: timekeeper)
        let memoryLimit = Self.memoryLimit(&settings, logger: logger)
        sharedCache = try settings.sharedCacheConfiguration.map { configuration in
            try SharedStore(configuration, logger: logger, timekeeper: timekeeper)
        }
        originMetrics = OriginMetrics(registry: registry)
        originMetrics.prepare(settings.downloads.origins)
        let observer = DownloadMetrics.observer(registry: registry, events: log, originMetrics: originMetrics)
        loader = try CurlLoader(configuration: settings.downloads, timekeeper: timekeeper, observer: observer)
        let rules = DownloadRules(settings.downloads, tenants: settings.tenantDownloads)
        let writable = WritableOrigins(rules, web: loader, maximumReads: SharedStore.maximumObjectReads)
        writableOrigins = Locked(writable)
        resultStore = writable[settings.resultStore.origin].map {
            SharedStore($0, configuration: settings.resultStoreConfiguration, logger: logger, timekeeper: timekeeper)
        }
        let caches = Self.caches(
            settings, disk: disk, sharedCache: sharedCache, resultStore: resultStore, log: log, timekeeper: timekeeper)
        budget = MemoryBudget(
            limit: memoryLimit, maximumWait: settings.api.requestTimeout * 2 / 3, timekeeper: timekeeper,
            allocated: { SharedBytes.allocatedByteCount + caches.byteCountBesideBlocks }, evict: { caches.evict($0) })
        memoryWatch = Self.memoryWatch(budget, logger: logger, timekeeper: timekeeper)
        folders = FolderLoader(timekeeper: timekeeper)
        let guarded = CircuitBreaker(RoutingLoader(web: loader, folders: folders), timekeeper: timekeeper) { origin in
            log.record(ServiceEvent(origin))
        }
        downloader = ImageDownloader(
            rules: rules, loader: guarded, cache: CachedSources(caches), timekeeper: timekeeper,
            observer: observer, budget: budget)
        lanes = Self.lanes(settings, timekeeper: timekeeper)
        pipeline = ImagePipeline(
            configuration: settings.pipeline, downloader: downloader, caches: caches,
            resources: WorkResources(
                lanes: lanes, codec: sandbox ?? InProcessCodec(), budget: budget,
                metrics: PipelineMetrics(registry: registry, timekeeper: timekeeper), events: log, logger: logger,
                faceDetector: faceDetector),
            timekeeper: timekeeper)
        self.settings = settings
        try startStores(logger: logger)
    }

    private func startStores(logger: Logger) throws {
        if let sharedCache {
            try FleetPurges(of: pipeline, announcedBy: sharedCache).start(beside: disk, logger: logger)
        }
        try resultStore?.start()
        resultStore?.waitForFirstProbe()
    }

    /// The settings without formats that may not be decoded and faces that cannot be found on this machine.
    private static func adapted(_ settings: Settings, to sandbox: SandboxedCodec?, findsFaces: Bool) -> Settings {
        var settings = settings
        settings.setFaceDetection(findsFaces)
        settings.pipeline.rules.limits.sourceFormats = settings.sandbox.sourceFormats(
            inSandbox: sandbox?.protections.isSandbox ?? false)
        return settings
    }

    /// Shrinks the caches to half of the budget; the other half is for work in progress.
    private static func memoryLimit(_ settings: inout Settings, logger: Logger) -> Int {
        let limit = settings.memoryBudget.byteCount(of: SystemMemory().limit)
        if settings.pipeline.fitCaches(within: limit / 2) {
            logger.warning("caches shrunk to half of memoryBudget", ["budget": .int(limit)])
        }
        return limit
    }

    private static func caches(
        _ settings: Settings, disk: DiskStore?, sharedCache: SharedStore?, resultStore: SharedStore?, log: EventLog,
        timekeeper: any Timekeeper
    ) -> CacheLayers {
        // Without such caches, a command need not load libraries to determine their versions.
        let isLasting = disk != nil || sharedCache != nil || resultStore != nil
        let versions = isLasting ? "alula \(Program.build), \(ImageLibrary.versions)" : ""
        return CacheLayers(
            configuration: settings.pipeline, disk: disk.map { DiskLayer(store: $0, versions: versions) },
            sharedCache: sharedCache, resultStore: resultStore,
            rules: settings.sharedLayerRules(settings.pipeline, versions: versions), events: log, timekeeper: timekeeper
        )
    }

    private static func lanes(_ settings: Settings, timekeeper: any Timekeeper) -> WorkLanes {
        let maximumQueued = settings.downloads.maximumTransfers
        func pool(_ name: String, _ count: Int) -> WorkerPool {
            WorkerPool(
                count: count, maximumQueued: maximumQueued, name: name, timekeeper: timekeeper,
                onThreadExit: { ImageLibrary.endThread() })
        }
        return WorkLanes(
            small: pool("render", settings.renderWorkers),
            expensive: pool("expensive", WorkLanes.expensiveThreadCount(beside: settings.renderWorkers)),
            maximumWaiting: maximumQueued, timekeeper: timekeeper)
    }

    private static func memoryWatch(
        _ budget: MemoryBudget, logger: Logger, timekeeper: any Timekeeper
    ) -> Task<Void, Never> {
        let system = SystemMemory()
        let file = system.pressureFile
        let pressure = { @Sendable in file.flatMap { system.text(of: $0) }.flatMap { MemoryPressure($0) } }
        let watch = MemoryWatch(budget: budget, pressure: pressure, logger: logger, timekeeper: timekeeper)
        return Task { await watch.run() }
    }

    private static func diskStore(
        _ settings: DiskSettings, logger: Logger, timekeeper: any Timekeeper
    ) throws(UnusableDiskCache) -> DiskStore? {
        guard let configuration = settings.storeConfiguration else { return nil }
        do {
            return try DiskStore(configuration, logger: logger, timekeeper: timekeeper)
        } catch {
            throw UnusableDiskCache(path: configuration.folder, reason: error)
        }
    }

    package var resultWriter: ResultWriter { ResultWriter(writableOrigins.withLock { $0 }) }

    /// Replaces the rules for sources, and the limits of caches and downloads; returns the settings in use.
    func use(_ settings: Settings) -> Settings {
        let rules = DownloadRules(settings.downloads, after: downloader.rules, tenants: settings.tenantDownloads)
        let earlier = writableOrigins.withLock { $0 }
        let writable = WritableOrigins(rules, web: loader, maximumReads: SharedStore.maximumObjectReads, after: earlier)
        writableOrigins.withLock { $0 = writable }
        end(earlier.replaced(by: writable), after: settings.api.requestTimeout * 2)
        var settings = settings
        settings.setFaceDetection(pipeline.findsFaces)
        settings.pipeline.fitCaches(within: budget.limit / 2)
        pipeline.setCacheBounds(settings.pipeline)
        disk?.setCapacities(settings.disk.capacities)
        lanes.setMaximumWaiting(settings.downloads.maximumTransfers)
        originMetrics.prepare(settings.downloads.origins)
        downloader.setRules(rules)
        return settings
    }

    /// Ends objects after a delay, because requests in progress may still use them.
    private func end(_ objects: [OriginObjects], after delay: Duration) {
        guard !objects.isEmpty else { return }
        Task.detached { [timekeeper] in
            try await timekeeper.sleep(until: timekeeper.now + delay)
            try WorkThread(named: "store end") { for one in objects { one.shutDown() } }.detach()
        }
    }

    package func stopWork() async {
        memoryWatch.cancel()
        downloader.shutDown()
        await resultStore?.shutDown(timeLimit: .seconds(2))
        await writableOrigins.withLock { $0 }.end(timeLimit: .seconds(2), by: timekeeper)
        loader.shutDown()
        folders.shutDown()
    }

    package func end() async {
        await sharedCache?.shutDown(timeLimit: .seconds(2))
        await disk?.shutDown(timeLimit: .seconds(2))
        sandbox?.shutDown()
    }
}

extension OriginObjects: ObjectContainer {}
extension DownloadError: ObjectContainerFailure {}

extension WritableOrigins {
    /// Shuts down within a time limit, because threads may be blocked by a hanging disk.
    func end(timeLimit: Duration, by timekeeper: any Timekeeper) async {
        let isEnded = Promise<Bool>()
        let ending = try? WorkThread(named: "store end") {
            shutDown()
            isEnded.fulfill(true)
        }
        guard let ending else { return }
        ending.detach()
        _ = await isEnded.value(within: timeLimit, by: timekeeper, or: false)
    }
}
